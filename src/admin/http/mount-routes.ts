import { hash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { json, type Request, type RequestHandler, type Response, Router } from 'express'
import { describeError, UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { Caller } from '../access/caller.ts'
import type { Method, RouteSpec, WorkDone } from '../contract/route.ts'
import { ROUTES } from '../contract/routes.ts'
import type { AnyHandler } from '../perform/handler.ts'
import { nameTarget, type Operation, type PerformParts, perform, requireRole } from '../perform/perform.ts'
import { streamProgress } from '../perform/stream-progress.ts'
import { isUnexpected, toProblem } from '../perform/to-known.ts'
import type { Bytes } from '../ports/surroundings.ts'

const EVENTS = 'text/event-stream'

interface MountParts extends PerformParts {
  handlers: Readonly<Record<string, AnyHandler>>
  authenticator: Pick<Authenticator, 'identify'>
  /** Name of the session cookie; known once the server listens. */
  cookieName: () => string
  /** Told to those who are known, so that a client can say that it has another one. */
  version: string
  publish: Publish
  store: PerformParts['store'] & Pick<Store, 'beginAnswer' | 'endAnswer'>
  /** Checks each answer against its schema, for tests. */
  checksAnswers?: boolean
}

/** The Express routes of the table, each behind login, role and schemas. */
export function mountRoutes(parts: MountParts): Router {
  const router = Router()
  router.use(nameRequest)
  for (const [name, spec] of Object.entries<RouteSpec>(ROUTES)) {
    const [method = '', path = ''] = name.split(' ')
    const operation = { spec, handler: parts.handlers[name] as AnyHandler }
    // A feed has no end to measure.
    const told = spec.form === 'events' ? [] : [announce(parts, name)]
    const steps = [...told, admit(parts, spec), ...readBody(spec)]
    router[method.toLowerCase() as Lowercase<Method>](path, ...steps, answerBy(parts, operation))
  }
  router.use((request) => {
    throw new UpshotError('unknown_operation', `The admin API has no ${request.method} ${request.path}.`, {
      fix: 'GET /api/v1/openapi.json lists every operation.',
    })
  })
  return router
}

function readBody({ body, bodyMegabytes = 1 }: RouteSpec): RequestHandler[] {
  return body ? [requireJson, json({ limit: `${bodyMegabytes}mb` })] : []
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
  return async (request, response, next) => {
    if (spec.role === 'anyone') return next()
    const caller = await identify(parts, request)
    response.locals.caller = caller
    response.set('X-Upshot-Version', parts.version)
    // Before the body is read.
    await requireRight(parts, spec, { request, caller })
    next()
  }
}

/** `isUse` false: a session that only listens may become idle. */
function identify(parts: MountParts, { headers, socket }: Request, isUse = true): Promise<Caller> {
  const { authenticator, cookieName, clock } = parts
  const credentials = { headers, address: socket.remoteAddress ?? '', cookieName: cookieName() }
  return authenticator.identify(credentials, clock.now(), { isUse })
}

function requireRight(
  { store, clock }: MountParts,
  spec: RouteSpec,
  { request, caller }: { request: Request; caller: Caller },
): Promise<void> {
  const target = nameTarget(request.params as Record<string, string>)
  return requireRole(store, { spec, caller, target, now: clock.now() })
}

/** Other types could be sent by a form of a foreign page, without a preflight. */
const requireJson: RequestHandler = (request, _response, next) => {
  if (request.is('application/json')) return next()
  throw new UpshotError('invalid_request', 'Send the body as application/json.')
}

function answerBy(parts: MountParts, operation: Operation): RequestHandler {
  const { spec } = operation
  return async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const { signal } = gone
    refuseQuery(spec, request)
    const known = response.locals.caller as Caller | undefined
    const caller = known ?? ({ address: request.socket.remoteAddress } as Caller)
    const onceKey = (spec.isIdempotent && request.get('idempotency-key')) || null
    const once = onceKey === null ? undefined : (act: Act) => answerOnce(parts, { request, caller, key: onceKey }, act)
    const given = { params: request.params as Record<string, string>, query: request.query, body: request.body }
    const mayGoOn = async () => {
      try {
        await requireRight(parts, spec, { request, caller: await identify(parts, request, false) })
        return true
      } catch {
        return false
      }
    }
    const handle = (tell?: (work: WorkDone) => void) =>
      perform(parts, operation, given, { caller, signal, tell, onceKey, once, mayGoOn }, { request, response })
    if (spec.tellsProgress && request.get('accept') === EVENTS) {
      return sendEvents(response, streamAnswer(parts, request, { handle, response }), signal)
    }
    const answer = await handle()
    if (response.headersSent || signal.aborted) return
    if (spec.form === 'bytes') return sendBytes(response, answer as Bytes, signal)
    if (spec.form === 'events') return sendEvents(response, answer as AsyncIterable<unknown>, signal)
    if (spec.answer === null) response.status(204).end()
    // Express adds a weak ETag, and answers 304 where the client has it already.
    else response.json(parts.checksAnswers ? spec.answer.parse(answer) : answer)
  }
}

type Act = () => Promise<unknown>

/** The progress of an operation, and its answer or its problem, as the last event. */
async function* streamAnswer(
  parts: MountParts,
  request: Request,
  { handle, response }: { handle: (tell: (work: WorkDone) => void) => Promise<unknown>; response: Response },
) {
  try {
    yield* streamProgress(handle)
  } catch (error) {
    yield { problem: describeProblem(parts, error, { request, response }) }
  }
}

function refuseQuery({ query }: RouteSpec, request: Request): void {
  const [unknown] = Object.keys(request.query)
  if (query || unknown === undefined) return
  throw new UpshotError('invalid_request', `This operation takes no query; "${unknown}" was given.`)
}

/** The problem of an error. One that nobody expected is published. */
function describeProblem(
  { publish }: Pick<MountParts, 'publish'>,
  error: unknown,
  { request, response }: { request: Request; response: Response },
) {
  if (isUnexpected(error)) {
    publish({ kind: 'fault', where: `${request.method} ${request.path}`, error: describeError(error) })
  }
  return toProblem(error, String(response.locals.id ?? ''))
}

/** The last handler: makes a problem of every error. */
export function answerProblem(parts: Pick<MountParts, 'publish' | 'clock'>) {
  return (error: unknown, request: Request, response: Response, _next: unknown) => {
    const problem = describeProblem(parts, error, { request, response })
    if (response.headersSent) return void response.destroy()
    if (problem.retryAt) response.set('Retry-After', secondsUntil(problem.retryAt, parts.clock.now()))
    if (problem.status === 401) response.set('WWW-Authenticate', 'Bearer realm="upshot"')
    response.status(problem.status).type('application/problem+json').send(JSON.stringify(problem))
  }
}

function secondsUntil(moment: string, now: number): string {
  return String(Math.max(1, Math.ceil((Date.parse(moment) - now) / 1_000)))
}

const ONCE_KEY = /^[\x21-\x7e]{1,200}$/

/**
 * Performs a request with an `Idempotency-Key` once in 24 h: a repeated one gets the first answer.
 * Throws `conflict` for another request with the key, or while the first one has no answer.
 */
async function answerOnce(
  { store, clock }: Pick<MountParts, 'store' | 'clock'>,
  { request, caller, key }: { request: Request; caller: Caller; key: string },
  act: Act,
): Promise<unknown> {
  if (!ONCE_KEY.test(key)) {
    throw new UpshotError('invalid_request', 'An Idempotency-Key has 1 to 200 characters of ASCII without spaces.')
  }
  const name = `${caller.kind}:${caller.id}`
  const content = [request.method, request.originalUrl, JSON.stringify(request.body)].join('\n')
  const asked = hash('sha256', content, 'hex')
  const known = await store.beginAnswer({ caller: name, key, request: asked }, clock.now())
  if (known === null) {
    const answer = await act().catch(async (error: unknown) => {
      await store.endAnswer({ caller: name, key }, null)
      throw error
    })
    await store.endAnswer({ caller: name, key }, JSON.stringify(answer ?? null))
    return answer
  }
  if (known.request !== asked) throw refuse('This Idempotency-Key was used for another request.', 'Use a new key.')
  if (known.answer !== null) return JSON.parse(known.answer)
  throw refuse(
    'The first request with this Idempotency-Key has no answer.',
    'Check whether it took effect, then use a new key.',
  )
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('conflict', message, { fix })
}

/**
 * Sends bytes as an attachment, which no browser shows as a page of ours. A fault before the first
 * byte is answered as a problem; a later one cuts the connection. Reads no faster than the client.
 */
async function sendBytes(response: Response, { type, name, size, chunks }: Bytes, signal: AbortSignal): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  response.attachment(name).type(type)
  response.set({ 'Cache-Control': 'no-store', ...(size === null ? {} : { 'Content-Length': String(size) }) })
  async function* all() {
    if (first.done) return
    yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  await pipe(response, all(), signal)
}

/** Sends each event as it comes, until there are no more or the client is gone. */
async function sendEvents(response: Response, events: AsyncIterable<unknown>, signal: AbortSignal): Promise<void> {
  response.set({ 'Content-Type': EVENTS, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
  async function* all() {
    for await (const event of events) yield `data: ${JSON.stringify(event)}\n\n`
  }
  await pipe(response, all(), signal)
}

function pipe(response: Response, chunks: AsyncIterable<Uint8Array | string>, signal: AbortSignal): Promise<void> {
  return pipeline(chunks, response).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
