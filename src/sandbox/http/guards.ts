import type { RequestListener } from 'node:http'
import type { Express, RequestHandler } from 'express'
import type { SandboxClock } from '../state/clock.ts'
import { ApiError } from './api-error.ts'

/** Sets `Date` to the sandbox's time, so that clients that compute with it follow its clock. */
export function setDate(clock: SandboxClock): RequestHandler {
  return (_request, response, next) => {
    response.sendDate = false
    response.set('Date', new Date(clock.now()).toUTCString())
    next()
  }
}

/** Refuses requests with a foreign `Host`. This stops DNS rebinding by pages of other sites. */
export function requireHost(hosts: () => readonly string[]): RequestHandler {
  return (request, _response, next) => {
    if (!hosts().includes(request.headers.host ?? ''))
      throw new ApiError(403, 'permission_denied', 'The sandbox does not answer to this Host.')
    next()
  }
}

const READING = new Set(['GET', 'HEAD'])

/**
 * Refuses foreign origins, and changes without the control header. Forms and pages of other sites
 * cannot send that header.
 */
export function requireControl(origins: () => readonly string[]): RequestHandler {
  return (request, _response, next) => {
    const { origin } = request.headers
    if (origin !== undefined && !origins().includes(origin))
      throw new ApiError(403, 'permission_denied', 'Requests from other origins are refused.')
    if (!READING.has(request.method) && request.get('x-sandbox-control') !== '1')
      throw new ApiError(403, 'permission_denied', 'A change needs the header "X-Sandbox-Control: 1".')
    next()
  }
}

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
