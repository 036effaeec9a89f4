import { z } from 'zod'
import { STORAGES } from '../../core/service/storage.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { toWireEntry } from '../storage/entry.ts'
import type { Routes } from './routes.ts'

const contentQuery = z.object({ path: z.string().min(1) })
const folderQuery = z.object({ path: z.string().default('/'), recursive: z.enum(['true', 'false']).default('true') })

export function storageRoutes({ storages }: SandboxParts): Routes {
  return {
    'GET /storages': () => STORAGES.map((name) => ({ name, dir: storages[name].dir })),
    'GET /storages/:storage': ({ storage, query }) => {
      const { path, recursive } = folderQuery.parse(query)
      return storages[storage()].listFolder(path, { recursive: recursive === 'true' }).map(toWireEntry)
    },
    'PUT /storages/:storage/content': async ({ storage, query, content }) =>
      toWireEntry(await storages[storage()].put(contentQuery.parse(query).path, content)),
    'DELETE /storages/:storage/content': ({ storage, query }) =>
      storages[storage()].remove(contentQuery.parse(query).path),
    'POST /storages/:storage/rescan': ({ storage }) => storages[storage()].rescan(),
  }
}
