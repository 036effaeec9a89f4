import compression from 'compression'
import express, { type Express, type Request, type RequestHandler, type Response, Router } from 'express'
import type { Publish } from '../core/notices.ts'
import type { Store } from '../core/store/store.ts'
import { Authenticator } from './access/authenticator.ts'
import { CallerLimits } from './access/caller-limits.ts'
import { type CookieScope, cookieName } from './access/cookie.ts'
import { oidcRoutes } from './access/oidc-routes.ts'
import type { AccessOptions } from './access/options.ts'
import { checkHost, checkOrigin, type OwnAddress } from './http/check-origin.ts'
import { type MetricsSource, metricsRoute } from './http/metrics-route.ts'
import { answerProblem, mountRoutes } from './http/mount-routes.ts'
import { staticPage } from './http/static-page.ts'
import { openHandlers } from './local/local-operations.ts'
import type { mcpRoute } from './mcp/mcp-route.ts'
import type { BulkRunner } from './operations/bulk-runner.ts'
import type { AnyHandler } from './perform/handler.ts'
import { accessHandlers, type ProcessFacts } from './resources/access/access-handlers.ts'
import { liveHandlers } from './resources/live-handlers.ts'
import type { ResourceParts } from './resources/parts.ts'

export interface ConsoleParts extends Omit<ResourceParts, 'runner'> {
  store: Store
  access: AccessOptions
  facts: ProcessFacts
  publish: Publish
  /** Left out: there is no `/metrics`. */
  metrics?: MetricsSource
  /** Folder of the built dashboard; it need not exist. */
  page: string
  /** Checks each answer against its schema, for tests. */
  checksAnswers?: boolean
}

/** Answers below this size are sent as they are. */
const COMPRESSED_BYTES = 1_400

export interface Console {
  handler: Express
  /** Ends the open live feeds, which would delay a stop. */
  stop(): void
}

/** The API and the page, for any base path. `port` is asked once the server listens. */
export async function createConsole(
  parts: ConsoleParts,
  { port, runner }: { port: () => number; runner: Pick<BulkRunner, 'wake'> },
): Promise<Console> {
  const { access, store, page, metrics } = parts
  const place = (): CookieScope => ({
    port: port(),
    isHttps: access.url?.startsWith('https:') ?? false,
    basePath: access.basePath,
  })
  const authenticator = new Authenticator(store, access)
  const stopped = new AbortController()
  const router = Router()
  const own = () => ({ port: port(), url: access.url })
  if (metrics) router.get('/metrics', metricsRoute({ ...metrics, authenticator, clock: parts.clock, own }))
  router.use(secure(own))
  router.use(compression({ threshold: COMPRESSED_BYTES, filter: mayCompress }))
  const { clock, facts } = parts
  const cookie = () => cookieName(place())
  const issuer = access.oidc?.issuer ?? null
  const handlers: Record<string, AnyHandler> = {
    ...(await openHandlers({ ...parts, runner })),
    ...accessHandlers({
      store,
      clock,
      authenticator,
      cookieScope: place,
      facts,
      issuer,
      surroundings: parts.surroundings,
    }),
    ...liveHandlers({ store, clock }, stopped.signal),
  }
  const served = {
    ...parts,
    version: facts.version,
    handlers,
    authenticator,
    limits: new CallerLimits(),
  }
  router.use('/api/v1', sameOrigin(own), mountRoutes({ ...served, cookieName: cookie }))
  router.use('/mcp', sameOrigin(own), lateMcp(served))
  if (access.oidc) router.use(oidcRoutes({ ...parts, access: { ...access, oidc: access.oidc } }))
  router.use(staticPage(page, access.basePath))
  router.use(answerProblem(parts))
  const app = express().disable('x-powered-by')
  app.use(access.basePath === '' ? '/' : access.basePath, router)
  return {
    handler: app,
    stop: () => stopped.abort(),
  }
}

/** The agents' door, whose library the first agent loads. */
function lateMcp(parts: Parameters<typeof mcpRoute>[0]): RequestHandler {
  let router: Promise<RequestHandler> | null = null
  return (request, response, next) => {
    router ??= import('./mcp/mcp-route.ts').then((found) => found.mcpRoute(parts))
    router.then((handle) => handle(request, response, next)).catch(next)
  }
}

/** A feed would wait in the compressor until it is large enough. */
function mayCompress(request: Request, response: Response): boolean {
  return (
    !String(response.getHeader('content-type')).startsWith('text/event-stream') && compression.filter(request, response)
  )
}

/** Sets the headers of every answer, and refuses foreign names. */
function secure(place: () => OwnAddress): RequestHandler {
  return (request, response, next) => {
    response.set(SECURE_HEADERS)
    checkHost(request.headers, place())
    next()
  }
}

/** Refuses requests to the API that a foreign page sends. */
function sameOrigin(place: () => OwnAddress): RequestHandler {
  return (request, _response, next) => {
    checkOrigin(request.headers, place())
    next()
  }
}

/** Only our own files run; no inline script or style, no frames, no text that becomes markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Headers of every answer of the admin server. */
const SECURE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const
