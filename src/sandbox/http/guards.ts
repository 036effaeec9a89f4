import type { RequestHandler } from 'express'
import type { SandboxClock } from '../state/clock.ts'
import { ApiError } from './api-error.ts'

/** Replies carry the sandbox's time, so that what is computed from it moves with the clock. */
export function tellTime(clock: SandboxClock): RequestHandler {
  return (_request, response, next) => {
    response.sendDate = false
    response.set('Date', new Date(clock.now()).toUTCString())
    next()
  }
}

/**
 * Refuses a request whose `Host` is not exactly one of ours: a page of another site that gave its
 * name our address must not get to read or change anything here.
 */
export function requireHost(hosts: () => readonly string[]): RequestHandler {
  return (request, _response, next) => {
    if (!hosts().includes(request.headers.host ?? ''))
      throw new ApiError(403, 'permission_denied', 'This name does not belong to the sandbox.')
    next()
  }
}

const READING = new Set(['GET', 'HEAD'])

/**
 * A change needs a header that no form and no page of another site can send, and, where one is
 * sent, our own origin.
 */
export function requireControl(origins: () => readonly string[]): RequestHandler {
  return (request, _response, next) => {
    const { origin } = request.headers
    if (origin !== undefined && !origins().includes(origin))
      throw new ApiError(403, 'permission_denied', 'Requests of other origins are refused.')
    if (!READING.has(request.method) && request.get('x-sandbox-control') !== '1')
      throw new ApiError(403, 'permission_denied', 'A change needs the header "X-Sandbox-Control: 1".')
    next()
  }
}
