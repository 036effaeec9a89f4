import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CancelledNotificationSchema, isInitializeRequest } from '@modelcontextprotocol/sdk/types.js'
import { json, type Request, type RequestHandler, Router } from 'express'
import { UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { Caller } from '../access/caller.ts'
import { ROUTES } from '../contract/routes.ts'
import type { AnyHandler } from '../perform/handler.ts'
import { type PerformParts, perform } from '../perform/perform.ts'
import { createAgentServer } from './create-agent-server.ts'

interface McpParts extends PerformParts {
  handlers: Readonly<Record<string, AnyHandler>>
  authenticator: Pick<Authenticator, 'identify'>
  version: string
}

/** The way to change things: an address that says so. */
const WRITES = 'allow-writes'
/** `?allow-writes` alone, or one of the usual words; `allow-writes=false` means what it says. */
const SAYS_YES = ['', '1', 'true']

/** An agent is given an id, and sends it along. Nothing is kept for it. */
const SESSION = 'Mcp-Session-Id'

/** A request that is not answered yet. */
interface Working {
  /** Two agents may have one token, and number their requests alike. */
  agent: string
  id: unknown
  end: () => void
}

/**
 * `POST /mcp` for agents, with the token of a program: streamable HTTP without sessions, so that
 * any process answers any request. It only reads unless the address ends with `?allow-writes`.
 */
export function mcpRoute(parts: McpParts): Router {
  const router = Router()
  router.post('/', admit(parts), json({ limit: '1mb' }), answer(parts))
  router.all('/', (_request, response) => {
    const error = { code: -32_000, message: 'Only POST: this server keeps no sessions.' }
    response.status(405).set('Allow', 'POST').json({ jsonrpc: '2.0', error, id: null })
  })
  return router
}

/** Puts the caller into `response.locals`, before the body is read. */
function admit(parts: McpParts): RequestHandler {
  return async (request, response, next) => {
    response.locals.caller = await identify(parts, request)
    requireToken(response.locals.caller)
    next()
  }
}

function identify({ authenticator, clock }: McpParts, { headers, socket }: Request): Promise<Caller> {
  return authenticator.identify({ headers, address: socket.remoteAddress ?? '', cookieName: '' }, clock.now())
}

function answer(parts: McpParts): RequestHandler {
  const { version, handlers } = parts
  const working = new Set<Working>()
  return async (request, response) => {
    const { query, body } = request
    const caller = response.locals.caller as Caller
    // Its close has been told already, and would end nothing that begins now.
    if (response.closed) return
    const server = createAgentServer({
      version,
      rights: { role: caller.role, allowsWrites: SAYS_YES.includes(String(query[WRITES])) },
      // A tool may ask for minutes, and its token may be revoked meanwhile.
      perform: async (name, given, about) => {
        const operation = { spec: ROUTES[name], handler: handlers[name] as AnyHandler }
        return perform(parts, operation, given, { caller: await identify(parts, request), onceKey: null, ...about })
      },
    })
    const transport = new StreamableHTTPServerTransport({})
    const own = {
      agent: `${caller.id} ${request.get(SESSION)}`,
      id: body?.id,
      end: () => void Promise.all([transport.close(), server.close()]),
    }
    working.add(own)
    response.once('close', () => {
      working.delete(own)
      own.end()
    })
    if (isInitializeRequest(body)) response.set(SESSION, randomWord())
    if (request.get(SESSION) !== undefined) cancel(working, own, body)
    // The types of the SDK and `exactOptionalPropertyTypes` do not agree.
    await server.connect(transport as never)
    await transport.handleRequest(request, response, body)
  }
}

/** Ends the request that a message cancels, which came in a request of its own. */
function cancel(working: ReadonlySet<Working>, { agent }: Working, message: unknown): void {
  const id = CancelledNotificationSchema.safeParse(message).data?.params.requestId
  for (const each of working) if (id !== undefined && each.id === id && each.agent === agent) each.end()
}

/** A page of a browser has no business here. */
function requireToken({ kind }: Caller): void {
  if (kind === 'token') return
  throw new UpshotError('unauthenticated', 'An agent needs a token of its own.', {
    fix: 'Make one with "upshot tokens add <name> --role viewer".',
  })
}
