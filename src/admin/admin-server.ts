import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { UpshotError } from '../core/errors.ts'
import type { Health } from './health.ts'

/** How long {@link AdminServer.stop} waits for answers in progress. */
const ANSWER_WITHIN_MS = 1_000

/** The admin server. It listens on loopback only, because it needs no key. */
export class AdminServer {
  readonly #server: Server
  readonly #answerWithinMs: number

  constructor(health: Health, answerWithinMs = ANSWER_WITHIN_MS) {
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
      this.#server.listen(port, '127.0.0.1', resolve)
    })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Finishes answers in progress, then closes; cuts off those that take more than a second. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const cut = setTimeout(() => this.#server.closeAllConnections(), this.#answerWithinMs)
    await closed
    clearTimeout(cut)
  }
}
