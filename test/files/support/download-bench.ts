import { join } from 'node:path'
import { test as base, onTestFinished } from 'vitest'
import type { FilesClientOptions } from '../../../src/files/index.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { giveUrls, someBytes } from './download-host.ts'
import { REF } from './entries.ts'
import { ScriptedServer } from './scripted-server.ts'
import { testClient } from './test-client.ts'

export const CONTENT = someBytes(300_000)
export const FILE = { ...REF, size: CONTENT.length, modifiedAt: '2026-01-02T00:00:00.000Z' }

/** An API that gives out URLs of a download host, a client, and a folder to download into. */
export async function startDownloads(
  options: Partial<FilesClientOptions> & { urlsLastMs?: number; details?: () => object } = {},
) {
  const { urlsLastMs = 900_000, details = () => ({ size: FILE.size }), ...client } = options
  const folder = tempFolder()
  const api = await ScriptedServer.start()
  const host = await ScriptedServer.start()
  giveUrls(api, host, { expiresInMs: urlsLastMs, details })
  return {
    api,
    host,
    path: (name: string) => join(folder, name),
    ...testClient({ baseUrl: api.baseUrl, ...client }),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}

/** A test names the bench that it uses. */
export const test = base.extend('downloads', async () => {
  const bench = await startDownloads()
  onTestFinished(() => bench[Symbol.asyncDispose]())
  return bench
})
