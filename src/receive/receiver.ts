import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { UpshotError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import type { DeliveryIntake } from '../core/store/deliveries.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import type { AcceptParts } from './accept-delivery.ts'
import { EndpointCheck } from './checks/endpoint-check.ts'
import { SelfProbe } from './checks/self-probe.ts'
import { SignatureAlarm } from './checks/signature-alarm.ts'
import { createDeliveryHandler } from './delivery-handler.ts'
import { IntakeLimit } from './limits/intake.ts'
import type { ReceiveLimits } from './limits/receive-limits.ts'
import { RefusalLedger } from './refusal-ledger.ts'

export interface ReceiverParts {
  store: ReceiverStore
  /** The store itself, or the worker of this process. */
  intake: DeliveryIntake
  routes: AcceptParts['routes']
  clock: Clock
  publish: Publish
  limits?: Partial<ReceiveLimits>
  timeouts?: Partial<typeof TIMEOUTS>
}

export type ReceiverStore = Pick<
  Store,
  'findEndpoint' | 'listEndpoints' | 'listDeliveries' | 'saveRefusal' | 'countRefusals' | 'saveCapture'
>

/**
 * Slow senders are cut off: the whole request within 10 s, its headers within 5 s, checked each
 * second.
 */
const TIMEOUTS = { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }
/** So much of the ledger tells at the start which endpoints used to work. */
const RECENT_DELIVERIES = 1_000

/** The HTTP server that deliveries arrive at. */
export class Receiver {
  readonly #server: Server
  readonly #ledger: RefusalLedger
  readonly #endpoints: EndpointCheck
  readonly #watch = new SignatureAlarm()
  readonly #store: ReceiverStore
  readonly #atWork = new Set<Promise<void>>()
  #isDraining = false

  constructor({ limits = {}, timeouts = {}, ...parts }: ReceiverParts) {
    const { store, clock, publish } = parts
    const gate = new IntakeLimit(limits, () => this.#isDraining)
    const selfProbe = new SelfProbe()
    this.#store = store
    this.#ledger = new RefusalLedger(store, publish)
    const probe = (endpoint: Parameters<SelfProbe['send']>[1]) => selfProbe.send(this.#ownUrl(), endpoint, clock.now())
    this.#endpoints = new EndpointCheck({ store, clock, publish, probe })
    const handleDelivery = createDeliveryHandler({
      ...parts,
      gate,
      ledger: this.#ledger,
      watch: this.#watch,
      recogniseProbe: (request) => selfProbe.recognise(request),
    })
    const app = createOtherRoutes()
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      const path = request.method === 'POST' ? parseHookPath(request.url ?? '') : null
      // Deliveries go straight to their handler: routing by Express would cost each of them as much
      // as its signature.
      if (path === null) app(request, response)
      else this.#follow(handleDelivery(request, response, path))
    }
    this.#server = createServer({ ...TIMEOUTS, ...timeouts }, handle)
    // A sender that asks first is told before it sends a byte.
    this.#server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      if (!(Number(request.headers['content-length'] ?? 0) > gate.limits.bodyBytes)) response.writeContinue()
      handle(request, response)
    })
    this.#server.maxConnections = gate.limits.connections
  }

  /** Listens and gives the URL; port 0 takes a free one. */
  async start({ host, port }: { host: string; port: number }): Promise<string> {
    for (const delivery of (await this.#store.listDeliveries({ limit: RECENT_DELIVERIES })).reverse()) {
      this.#watch.note(delivery)
    }
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) => reject(describeListenError(cause, port)))
      this.#server.listen(port, host, resolve)
    })
    const { port: taken } = this.#server.address() as AddressInfo
    return `http://${host.includes(':') ? `[${host}]` : host}:${taken}`
  }

  /**
   * Resolves when each active endpoint takes a delivery of our own; rejects with those that do not.
   * Cheap to ask again.
   */
  checkEndpoints(): Promise<void> {
    return this.#endpoints.check()
  }

  /**
   * Answers 503 from now on; resolves when every delivery in flight has its answer, and nothing
   * more will be written.
   */
  async stop(): Promise<void> {
    this.#isDraining = true
    if (this.#server.listening) {
      const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
      this.#server.closeIdleConnections()
      await closed
    }
    // A sender that went away closed its connection, not what it asked for: that may still be on
    // its way to the store.
    await Promise.all(this.#atWork)
    await this.#ledger.settle()
  }

  #follow(delivery: Promise<void>): void {
    this.#atWork.add(delivery)
    void delivery.finally(() => this.#atWork.delete(delivery))
  }

  /** Where this process reaches itself: on loopback, where it listens on all addresses. */
  #ownUrl(): string {
    const at = this.#server.address()
    if (at === null || typeof at === 'string') throw new UpshotError('not_running', 'The receiver does not listen.')
    const host = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[at.address] ?? at.address
    return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${at.port}`
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
