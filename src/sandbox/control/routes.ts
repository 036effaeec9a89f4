import type { RequestHandler } from 'express'
import { z } from 'zod'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'

interface ControlRequest {
  /** The `:id` of the path; empty in a path without one. */
  id: string
  /** The `:storage` of the path. Throws unless it names one of the three storages. */
  storage(): StorageName
  query: unknown
  /** The JSON body; an empty object when there is none. */
  body: unknown
  /** The raw body of a PUT. */
  content: AsyncIterable<Uint8Array>
}

/** Computes the `data` of a reply; undefined becomes null. */
export type Route = (request: ControlRequest) => unknown

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** Routes by method and path, such as `GET /keys`. */
export type Routes = Record<`${Method} ${string}`, Route>

const storageName = z.enum(STORAGES)

/** The Express handler of a route. */
export function answerRoute(route: Route): RequestHandler {
  return async (request, response) => {
    const data = await route({
      id: String(request.params.id ?? ''),
      storage: () => storageName.parse(request.params.storage),
      query: request.query,
      body: request.body ?? {},
      content: request,
    })
    response.json({ success: true, data: data ?? null })
  }
}
