import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { UpshotError } from '../core/errors.ts'
import type { Health } from './ports/health.ts'

// Imported, this module would load all of undici. See decision 67.
const { createServer } = process.getBuiltinModule('node:http')

/** Where a server that listens on all addresses is reached from this machine. */
const LOOPBACK_OF: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }
/** How long {@link AdminServer.stop} waits for answers in progress. */
const ANSWER_WITHIN_MS = 1_000

/** The part beside health: it begins once the server listens. */
interface Served {
  handler: RequestHandler
  start(): void
  stop(): Promise<void>
}

interface AdminServerOptions {
  /** Address to listen on. Default `127.0.0.1`. */
  host?: string
  /** Answers everything but `/livez` and `/readyz`; `port` may be asked once the server listens. */
  routes?: (port: () => number) => Served
  /** How long a stop waits for answers in progress. Default one second. */
  answerWithinMs?: number
}

/** The admin server: health for load balancers, and whatever `routes` serves. */
export class AdminServer {
  readonly #server: Server
  readonly #host: string
  readonly #answerWithinMs: number
  readonly #served: Served | null

  constructor(
    health: Health,
    { host = '127.0.0.1', routes, answerWithinMs = ANSWER_WITHIN_MS }: AdminServerOptions = {},
  ) {
    this.#host = host
    this.#answerWithinMs = answerWithinMs
    const app = express()
    app.disable('x-powered-by')
    app.get('/livez', (_request, response) => {
      response.json({ live: true })
    })
    app.get('/readyz', async (_request, response) => {
      const report = await health.check()
      // A kept-alive connection would delay a stop that has begun.
      if (!this.#server.listening) response.set('Connection', 'close')
      response.status(report.ready ? 200 : 503).json(report)
    })
    const served = routes?.(() => (this.#server.address() as AddressInfo).port)
    if (served) app.use(served.handler)
    this.#served = served ?? null
    this.#server = createServer(app)
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
