import type { RequestListener } from 'node:http'
import type { Express, RequestHandler } from 'express'

/** A router whose modules the first request loads. */
export function lateRouter(load: () => Promise<RequestHandler>): RequestHandler {
  let loading: Promise<RequestHandler> | null = null
  return (request, response, next) => {
    loading ??= load()
    loading.then((router) => router(request, response, next)).catch(next)
  }
}

/** A server whose modules, Express among them, the first request loads. */
export function lateApp(load: () => Promise<Express>): RequestListener {
  let loading: Promise<Express> | null = null
  return (request, response) => {
    loading ??= load()
    loading.then((app) => app(request, response)).catch((error) => response.destroy(error))
  }
}
