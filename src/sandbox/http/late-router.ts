import type { RequestHandler } from 'express'

/** A router whose modules the first request loads. */
export function lateRouter(load: () => Promise<RequestHandler>): RequestHandler {
  let loading: Promise<RequestHandler> | null = null
  return (request, response, next) => {
    loading ??= load()
    loading.then((router) => router(request, response, next)).catch(next)
  }
}
