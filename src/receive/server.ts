import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { UpshotError } from '../core/errors.ts'
import { createDeliveryHandler, DEFAULT_LIMITS, type HandlerParts } from './delivery-handler.ts'

export type ReceiverParts = Omit<HandlerParts, 'limits' | 'isDraining'> & { limits?: Partial<HandlerParts['limits']> }

/** Slow senders are cut off: the whole request within 10 s, its headers within 5 s, checked each second. */
const TIMEOUTS = { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }
const MOST_CONNECTIONS = 2_000

/** The HTTP server that deliveries arrive at. */
export class Receiver {
  readonly #server: Server
  readonly #atWork = new Set<Promise<void>>()
  #isDraining = false

  constructor(parts: ReceiverParts) {
    const handleDelivery = createDeliveryHandler({
      ...parts,
      limits: { ...DEFAULT_LIMITS, ...parts.limits },
      isDraining: () => this.#isDraining,
    })
    const app = createOtherRoutes()
    this.#server = createServer(TIMEOUTS, (request, response) => {
      const path = request.method === 'POST' ? parseHookPath(request.url ?? '') : null
      // Deliveries go straight to their handler: routing by Express would cost each of them as much as its signature.
      if (path === null) app(request, response)
      else this.#follow(handleDelivery(request, response, path))
    })
    this.#server.maxConnections = MOST_CONNECTIONS
  }

  /** Listens and gives the URL; port 0 takes a free one. */
  async start({ host, port }: { host: string; port: number }): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) => reject(describeListenError(cause, port)))
      this.#server.listen(port, host, resolve)
    })
    const { port: taken } = this.#server.address() as AddressInfo
    return `http://${host.includes(':') ? `[${host}]` : host}:${taken}`
  }

  /** Answers 503 from now on; resolves when every delivery in flight has its answer. */
  async stop(): Promise<void> {
    this.#isDraining = true
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    await closed
    // A sender that went away closed its connection, not what it asked for: that may still be on its way to the store.
    await Promise.all(this.#atWork)
  }

  #follow(delivery: Promise<void>): void {
    this.#atWork.add(delivery)
    void delivery.finally(() => this.#atWork.delete(delivery))
  }
}

const HOOKS = '/hooks/'

/** The part behind `/hooks/`; null for every other address. A query is no part of it. */
function parseHookPath(url: string): string | null {
  if (!url.startsWith(HOOKS)) return null
  const end = url.indexOf('?')
  const path = url.slice(HOOKS.length, end === -1 ? undefined : end)
  return path.includes('/') ? null : path
}

/** Whatever is no delivery. */
function createOtherRoutes(): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use((_request, response) => {
    response.status(404).json({
      success: false,
      error: { code: 'resource_not_found', message: 'Deliveries are taken at POST /hooks/<endpoint>.', details: {} },
    })
  })
  return app
}

function describeListenError(cause: Error, port: number): UpshotError {
  const code = 'code' in cause ? String(cause.code) : cause.name
  const advice =
    code === 'EADDRINUSE' ? 'Another program uses it: stop that one, or choose another port (0 takes a free one).' : ''
  return new UpshotError('invalid_config', `The receiver cannot listen on port ${port} (${code}). ${advice}`.trim(), {
    cause,
  })
}
