import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { json, type RequestHandler, Router } from 'express'
import { UpshotError } from '../../core/errors.ts'
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

/**
 * `POST /mcp` for agents, with the token of a program: streamable HTTP without sessions, so that
 * any process answers any request. It only reads unless the address ends with `?allow-writes`.
 */
export function mcpRoute(parts: McpParts): Router {
  const router = Router()
  router.post('/', json({ limit: '1mb' }), answer(parts))
  router.all('/', (_request, response) => {
    const error = { code: -32_000, message: 'Only POST: this server keeps no sessions.' }
    response.status(405).set('Allow', 'POST').json({ jsonrpc: '2.0', error, id: null })
  })
  return router
}

function answer({ authenticator, version, handlers, ...parts }: McpParts): RequestHandler {
  return async (request, response) => {
    const { headers, socket, query, body } = request
    const credentials = { headers, address: socket.remoteAddress ?? '', cookieName: '' }
    const caller = await authenticator.identify(credentials, parts.clock.now())
    requireToken(caller)
    const server = createAgentServer({
      version,
      rights: { role: caller.role, allowsWrites: SAYS_YES.includes(String(query[WRITES])) },
      perform: (name, given, about) => {
        const operation = { spec: ROUTES[name], handler: handlers[name] as AnyHandler }
        return perform(parts, operation, given, { caller, onceKey: null, ...about })
      },
    })
    const transport = new StreamableHTTPServerTransport({})
    response.once('close', () => void Promise.all([transport.close(), server.close()]))
    // The types of the SDK and `exactOptionalPropertyTypes` do not agree.
    await server.connect(transport as never)
    await transport.handleRequest(request, response, body)
  }
}

/** A page of a browser has no business here. */
function requireToken({ kind }: Caller): void {
  if (kind === 'token') return
  throw new UpshotError('unauthenticated', 'An agent needs a token of its own.', {
    fix: 'Make one with "upshot tokens add <name> --role viewer".',
  })
}
