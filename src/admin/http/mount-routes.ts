import { json, type Request, type RequestHandler, type Response, Router } from 'express'
import { describeError, UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { Caller } from '../access/caller.ts'
import type { CallerLimits } from '../access/caller-limits.ts'
import type { Method, RouteSpec, RouteTable } from '../contract/route.ts'
import { type AnyHandler, type Bytes, checkInput } from '../perform/handler.ts'
import { requireRole } from '../perform/perform-as.ts'
import { maskCallbacks } from '../views/mask.ts'
import { answerOnce } from './answer-once.ts'
import { sendBytes, sendEvents } from './send-bytes.ts'
import { isUnexpected, toProblem } from './to-problem.ts'

/** Largest body of a request. */
const BODY_LIMIT = '1mb'

interface MountParts {
  routes: RouteTable
  handlers: Readonly<Record<string, AnyHandler>>
  authenticator: Pick<Authenticator, 'identify'>
  /** Name of the session cookie; known once the server listens. */
  cookieName: () => string
  limits: CallerLimits
  /** Told to those who are known, so that a client can say that it has another one. */
  version: string
  clock: Clock
  publish: Publish
  store: Pick<Store, 'recordAction' | 'beginAnswer' | 'endAnswer'>
  /** Checks each answer against its schema, for tests. */
  checksAnswers?: boolean
}

/** The Express routes of the table, each behind login, role and schemas. */
export function mountRoutes(parts: MountParts): Router {
  const router = Router()
  router.use(nameRequest)
  for (const [name, spec] of Object.entries(parts.routes)) {
    const [method = '', path = ''] = name.split(' ')
    const handler = parts.handlers[name] as AnyHandler
    // A feed has no end to measure.
    const told = spec.form === 'events' ? [] : [announce(parts, name)]
    const steps = [...told, admit(parts, spec), ...(spec.body ? [requireJson, json({ limit: BODY_LIMIT })] : [])]
    router[method.toLowerCase() as Lowercase<Method>](path, ...steps, perform(parts, spec, handler))
  }
  router.use((request) => {
    throw new UpshotError('unknown_operation', `The admin API has no ${request.method} ${request.path}.`, {
      fix: 'GET /api/v1/openapi.json lists every operation.',
    })
  })
  return router
}

/** The id goes into the answer, so that a person can name the request to others. */
const nameRequest: RequestHandler = (_request, response, next) => {
  const id = randomWord().slice(0, 16)
  response.locals.id = id
  response.set({ 'X-Request-Id': id, 'Cache-Control': 'private, no-cache' })
  next()
}

/** Publishes the answer once it is written. */
function announce({ publish, clock }: MountParts, operation: string): RequestHandler {
  return (_request, response, next) => {
    const startedAt = clock.now()
    response.once('finish', () => {
      const { statusCode: status } = response
      publish({ kind: 'admin.answered', operation, status, ms: clock.now() - startedAt })
    })
    next()
  }
}

/** Puts the caller into `response.locals`; throws `unauthenticated` and `forbidden`. */
function admit(parts: MountParts, spec: RouteSpec): RequestHandler {
  const { authenticator, cookieName, clock, store } = parts
  return async (request, response, next) => {
    if (spec.role === 'anyone') return next()
    const address = request.socket.remoteAddress ?? ''
    const credentials = { headers: request.headers, address, cookieName: cookieName() }
    const caller = await authenticator.identify(credentials, clock.now())
    response.locals.caller = caller
    response.set('X-Upshot-Version', parts.version)
    const target = String(request.params.id ?? request.params.name ?? '') || null
    await requireRole(store, { spec, caller, target, now: clock.now() })
    next()
  }
}

/** Other types could be sent by a form of a foreign page, without a preflight. */
const requireJson: RequestHandler = (request, _response, next) => {
  if (request.is('application/json')) return next()
  throw new UpshotError('invalid_request', 'Send the body as application/json.')
}

function perform(parts: MountParts, spec: RouteSpec, handler: AnyHandler): RequestHandler {
  const { clock, store, limits, checksAnswers } = parts
  return async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const now = clock.now()
    const caller = response.locals.caller as Caller | undefined
    if (spec.audit !== undefined && caller !== undefined) limits.countAction(caller, now)
    refuseQuery(spec, request)
    const params = request.params as Record<string, string>
    const call = {
      ...checkInput(spec, { params, query: request.query, body: request.body }),
      caller: caller ?? ({ address: request.socket.remoteAddress } as Caller),
      now,
      signal: gone.signal,
      onceKey: (spec.isIdempotent && request.get('idempotency-key')) || null,
      request,
      response,
    }
    const handle = (): Promise<unknown> => handler(call as never)
    const answer = await (spec.isIdempotent && caller
      ? answerOnce(store, { request, caller, now }, handle)
      : spec.isSearch && caller
        ? limits.search(caller, handle)
        : handle())
    if (response.headersSent || gone.signal.aborted) return
    if (spec.form === 'bytes') return sendBytes(response, answer as Bytes, gone.signal)
    if (spec.form === 'events') return sendEvents(response, answer as AsyncIterable<unknown>, gone.signal)
    if (spec.answer === null) response.status(204).end()
    else send(response, maskCallbacks(checksAnswers ? spec.answer.parse(answer) : answer))
  }
}

function refuseQuery({ query }: RouteSpec, request: Request): void {
  const [unknown] = Object.keys(request.query)
  if (query || unknown === undefined) return
  throw new UpshotError('invalid_request', `This operation takes no query; "${unknown}" was given.`)
}

/** Express adds a weak ETag, and answers 304 where the client has it already. */
function send(response: Response, answer: unknown): void {
  response.json(answer)
}

/** The last handler: makes a problem of every error, and publishes those that nobody expected. */
export function answerProblem({ publish, clock }: Pick<MountParts, 'publish' | 'clock'>) {
  return (error: unknown, request: Request, response: Response, _next: unknown) => {
    if (isUnexpected(error)) {
      publish({ kind: 'fault', where: `${request.method} ${request.path}`, error: describeError(error) })
    }
    if (response.headersSent) return void response.destroy()
    const problem = toProblem(error, String(response.locals.id ?? ''))
    if (problem.retryAt) response.set('Retry-After', secondsUntil(problem.retryAt, clock.now()))
    if (problem.status === 401) response.set('WWW-Authenticate', 'Bearer realm="upshot"')
    response.status(problem.status).type('application/problem+json').send(JSON.stringify(problem))
  }
}

function secondsUntil(moment: string, now: number): string {
  return String(Math.max(1, Math.ceil((Date.parse(moment) - now) / 1_000)))
}
