import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UpshotError } from '../core/errors.ts'
import type { Served } from './late-console.ts'
import { type Health, PROCESS_HEADER } from './ports/health.ts'

// Imported, this module would load all of undici. See decision 67.
const { createServer } = process.getBuiltinModule('node:http')

/** Where a server that listens on all addresses is reached from this machine. */
const LOOPBACK_OF: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }
/**
 * Cuts off slow senders. A minute, for lists of files have bodies of up to 32 MB. Browsers open
 * connections ahead of a request, and close those that they do not need within 20 s.
 */
const TIMEOUTS = { requestTimeout: 60_000, headersTimeout: 30_000, connectionsCheckingInterval: 1_000 }
/** How long {@link AdminServer.stop} waits for answers in progress. */
const ANSWER_WITHIN_MS = 1_000

interface AdminServerOptions {
  /** Address to listen on. Default `127.0.0.1`. */
  host?: string
  /** Answers everything but `/livez` and `/readyz`; `port` may be asked once the server listens. */
  routes?: (port: () => number) => Served
  /** How long a stop waits for answers in progress. Default one second. */
  answerWithinMs?: number
  timeouts?: typeof TIMEOUTS
}

/** The admin server: health for load balancers, and whatever `routes` serves. */
export class AdminServer {
  readonly #server: Server
  readonly #host: string
  readonly #answerWithinMs: number
  readonly #served: Served | null

  constructor(
    health: Health,
    { host = '127.0.0.1', routes, answerWithinMs = ANSWER_WITHIN_MS, timeouts = TIMEOUTS }: AdminServerOptions = {},
  ) {
    this.#host = host
    this.#answerWithinMs = answerWithinMs
    const served = routes?.(() => (this.#server.address() as AddressInfo).port)
    this.#served = served ?? null
    this.#server = createServer(timeouts, (request, response) => {
      const path = isLook(request) ? request.url?.replace(/\?.*/s, '') : undefined
      if (path === '/livez') answer(response, 200, { live: true })
      else if (path === '/readyz') this.#answerReadiness(health, response).catch((error) => response.destroy(error))
      else if (served) served.handler(request, response)
      else answer(response, 404, { error: 'There is nothing here.' })
    })
  }

  async #answerReadiness(health: Health, response: ServerResponse): Promise<void> {
    const report = await health.check()
    response.setHeader(PROCESS_HEADER, process.pid)
    // A kept-alive connection would delay a stop that has begun.
    if (!this.#server.listening) response.setHeader('Connection', 'close')
    answer(response, report.ready ? 200 : 503, report)
  }

  /** Listens and resolves with the URL; port 0 takes a free port. */
  async start(port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) => {
        const message =
          `The admin server cannot listen on port ${port}: ${cause.message}. ` +
          'Choose another one with UPSHOT_ADMIN_PORT; 0 takes a free one.'
        reject(new UpshotError('invalid_config', message, { cause }))
      })
      this.#server.listen(port, this.#host, resolve)
    })
    this.#served?.start()
    return `http://${LOOPBACK_OF[this.#host] ?? this.#host}:${(this.#server.address() as AddressInfo).port}`
  }

  /** Finishes answers in progress, then closes; cuts off those that take more than a second. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const ended = this.#served?.stop()
    const cut = setTimeout(() => this.#server.closeAllConnections(), this.#answerWithinMs)
    await closed
    clearTimeout(cut)
    await ended
  }
}

function isLook({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(body))
}
