import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UpshotError } from '../core/errors.ts'
import { MAX_REFUSALS } from '../core/incoming/delivery.ts'
import { CALLBACK_PATH } from '../core/incoming/hook.ts'
import type { Publish } from '../core/notices.ts'
import type { DeliveryIntake, Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import type { AcceptParts } from './accept-delivery.ts'
import { showPage } from './callbacks/callback-page.ts'
import { Callbacks } from './callbacks/callbacks.ts'
import { CaptureIntake } from './capture-intake.ts'
import { EndpointCheck } from './checks/endpoint-check.ts'
import { openProbeCheck, SelfProbe } from './checks/probes.ts'
import { SignatureAlarm } from './checks/signature-alarm.ts'
import { type Address, DeliveryHandler, isUnread } from './delivery-handler.ts'
import { IntakeLimit, type ReceiveLimits, type Rejection } from './limits/intake-limit.ts'
import { Peers } from './limits/peers.ts'
import { UploadWatch } from './limits/upload-watch.ts'
import { openEndpoint } from './open-endpoint.ts'
import { isPlainHttp, refuseOddHttp } from './plain-http.ts'
import { RefusalLedger } from './refusal-ledger.ts'

// Imported, this module would load all of undici. See decision 67.
const { createServer } = process.getBuiltinModule('node:http')

export interface ReceiverParts {
  store: ReceiverStore
  /** The store itself, or the worker of this process. */
  intake: DeliveryIntake
  routes: AcceptParts['routes']
  clock: Clock
  publish: Publish
  /** The key of the marks on probes of our commands. Default: none is recognised. */
  probeKey?: Uint8Array
  limits?: Partial<ReceiveLimits>
  timeouts?: Partial<typeof TIMEOUTS>
}

export type ReceiverStore = Pick<
  Store,
  | 'readSetupVersion'
  | 'findEndpoint'
  | 'listEndpoints'
  | 'listEndpointUses'
  | 'listDeliveries'
  | 'saveRefusal'
  | 'countRefusals'
  | 'saveCapture'
  | 'listCaptures'
  | 'dropCaptures'
  | 'startLeftOut'
  | 'loadHookKey'
  | 'findHook'
  | 'answerHook'
>

/**
 * Cuts off slow senders: 5 s for the headers, 10 s for the whole request, checked each second. A
 * proxy keeps idle connections for 60 s. Where ours close first, it answers a delivery 502.
 */
const TIMEOUTS = {
  requestTimeout: 10_000,
  headersTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 75_000,
}
/** Bad signatures of an endpoint that tell the alarm at start how it stands. */
const RECENT_FAILURES = 5

/** Why no delivery is taken, by phase. */
const BARS = {
  starting: { verdict: 'overloaded', reason: 'starting' },
  open: null,
  draining: { verdict: 'draining' },
} as const satisfies Record<string, Rejection | null>

export class Receiver {
  readonly #server: Server
  readonly #intakeLimit: IntakeLimit
  readonly #ledger: RefusalLedger
  readonly #endpoints: EndpointCheck
  readonly #uploads: UploadWatch
  readonly #captures: CaptureIntake
  readonly #alarm = new SignatureAlarm()
  readonly #store: ReceiverStore
  readonly #atWork = new Set<Promise<void>>()
  #phase: keyof typeof BARS = 'starting'

  constructor({ limits = {}, timeouts = {}, probeKey, ...parts }: ReceiverParts) {
    const { store, clock, publish } = parts
    const intakeLimit = new IntakeLimit(limits, () => BARS[this.#phase])
    this.#intakeLimit = intakeLimit
    const { connections, addressShare, bodyBytesPerSecond } = intakeLimit.limits
    const peers = new Peers(Math.ceil(connections * addressShare))
    const everyMs = timeouts.connectionsCheckingInterval ?? TIMEOUTS.connectionsCheckingInterval
    this.#uploads = new UploadWatch({ minBytes: (bodyBytesPerSecond * everyMs) / 1_000, everyMs })
    this.#captures = new CaptureIntake(parts)
    const selfProbe = new SelfProbe()
    this.#store = store
    this.#ledger = new RefusalLedger(store, publish)
    const probe = (endpoint: Parameters<SelfProbe['send']>[1]) => selfProbe.send(this.#ownUrl(), endpoint, clock.now())
    this.#endpoints = new EndpointCheck({ store, clock, publish, probe })
    const endpoints = { ...parts, clockJump: watchClock(clock) }
    const callbacks = new Callbacks(endpoints)
    const find = (token: string) => callbacks.find(token)
    const handler = new DeliveryHandler({
      clock,
      publish,
      find: {
        hooks: (path) => openEndpoint(endpoints, path),
        callbacks: (token) => callbacks.open(token),
      },
      intakeLimit,
      peers,
      uploads: this.#uploads,
      ledger: this.#ledger,
      alarm: this.#alarm,
      recogniseProbe: openProbeCheck(selfProbe, probeKey),
    })
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      // No sender of webhooks sends requests without waiting for answers.
      if (!peers.admitRequest(request.socket)) return
      if (!isPlainHttp(request)) return refuseOddHttp(request, response)
      // A connection on which somebody asks on and on, whatever it is, would hold up a stop.
      if (this.#phase === 'draining') response.setHeader('Connection', 'close')
      const finish = () => {
        peers.finishRequest(request.socket)
        if (isUnread(request)) request.socket.destroySoon()
      }
      const { method, url = '' } = request
      const address = readAddress(url)
      const isVisit = address?.part === 'callbacks' && (method === 'GET' || method === 'HEAD')
      if (address !== null && method === 'POST') this.#track(handler.handle(request, response, address), finish)
      else if (!isVisit) refuseOther(response.once('finish', finish))
      else
        this.#track(showPage({ find, intakeLimit, clock, publish }, { request, response, token: address.path }), finish)
    }
    this.#server = createServer({ ...TIMEOUTS, ...timeouts }, handle)
    this.#server.on('connection', (socket) => peers.join(socket))
    // `Expect: 100-continue`: a body that is too large is refused before it is sent.
    this.#server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      if (!(Number(request.headers['content-length'] ?? 0) > intakeLimit.limits.bodyBytes)) response.writeContinue()
      handle(request, response)
    })
    this.#server.maxConnections = intakeLimit.limits.connections
  }

  /** Deliveries that wait for their commit, and the bytes of all bodies in memory. */
  get load(): { waiting: number; bytes: number } {
    return this.#intakeLimit.load
  }

  /** Listens and takes deliveries; resolves with the URL. */
  async start(at: { host: string; port: number }): Promise<string> {
    const url = await this.listen(at)
    this.open()
    return url
  }

  /** Listens and answers 503 until `open`. Resolves with the URL; port 0 takes a free port. */
  async listen({ host, port }: { host: string; port: number }): Promise<string> {
    await this.#recallUses()
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) => reject(describeListenError(cause, port)))
      this.#server.listen(port, host, resolve)
    })
    this.#uploads.start()
    const { port: taken } = this.#server.address() as AddressInfo
    return urlOf(host, taken)
  }

  /** Tells the alarm which endpoints used to work, and how their signatures failed since. */
  async #recallUses(): Promise<void> {
    // One question for all: an endpoint that looks for its own passes over those of the others.
    const failed = await this.#store.listDeliveries({ verdicts: ['bad_signature'], limit: MAX_REFUSALS })
    const byEndpoint = Map.groupBy(failed, (failure) => failure.endpointId)
    for (const { endpointId, lastUsedAt: receivedAt } of await this.#store.listEndpointUses()) {
      this.#alarm.note({ endpointId, verdict: 'accepted', receivedAt })
      const since = (byEndpoint.get(endpointId) ?? []).filter((failure) => failure.receivedAt >= receivedAt)
      for (const failure of since.slice(0, RECENT_FAILURES).reverse()) this.#alarm.note(failure)
    }
  }

  /** Takes deliveries from now on, unless it drains already. */
  open(): void {
    if (this.#phase === 'starting') this.#phase = 'open'
  }

  /** Takes in the captures of endpoints that learn no more. Call it after each change of them. */
  takeInCaptures(): Promise<void> {
    return this.#phase === 'open' ? this.#captures.takeIn() : Promise.resolve()
  }

  /** Resolves when every active endpoint takes a probe; rejects with those that do not. */
  checkEndpoints(): Promise<void> {
    return this.#endpoints.check()
  }

  /** Answers 503 from now on. Resolves when every delivery in flight until now has its answer. */
  async drain(): Promise<void> {
    this.#phase = 'draining'
    await Promise.all(this.#atWork)
  }

  /** Drains and closes. Resolves when nothing more will be written. */
  async stop(): Promise<void> {
    this.#phase = 'draining'
    if (this.#server.listening) {
      const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
      this.#server.closeIdleConnections()
      // Node looks for slow senders no more once it closes.
      const late = setTimeout(() => this.#server.closeAllConnections(), this.#server.requestTimeout)
      await closed
      clearTimeout(late)
    }
    // The delivery of a sender that closed its connection may still be on its way to the store.
    await Promise.all(this.#atWork)
    this.#uploads.stop()
    await this.#ledger.settle()
  }

  /** `delivery` never rejects. */
  #track(delivery: Promise<void>, finish: () => void): void {
    this.#atWork.add(delivery)
    void delivery.then(() => {
      this.#atWork.delete(delivery)
      finish()
    })
  }

  /** The URL for probes: on loopback where the receiver listens on all addresses. */
  #ownUrl(): string {
    const at = this.#server.address()
    if (at === null || typeof at === 'string') throw new UpshotError('not_running', 'The receiver does not listen.')
    return urlOf({ '0.0.0.0': '127.0.0.1', '::': '::1' }[at.address] ?? at.address, at.port)
  }
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

const HOOKS = '/hooks/'

/** The part behind `/hooks/` or `/callbacks/`, without the query; null for any other address. */
function readAddress(url: string): Address | null {
  const part = url.startsWith(HOOKS) ? 'hooks' : url.startsWith(CALLBACK_PATH) ? 'callbacks' : null
  if (part === null) return null
  const end = url.indexOf('?')
  const path = url.slice(part.length + 2, end === -1 ? undefined : end)
  return path.includes('/') ? null : { part, path }
}

/** Answers a request that is not a delivery with 404. */
function refuseOther(response: ServerResponse): void {
  const error = { code: 'resource_not_found', message: 'Deliveries are taken at POST /hooks/<endpoint>.', details: {} }
  response.writeHead(404, { 'Content-Type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify({ success: false, error }))
}

export function describeListenError(cause: Error, port: number): UpshotError {
  const code = 'code' in cause ? String(cause.code) : cause.name
  const advice = code === 'EADDRINUSE' ? 'Another program uses it: stop that one, or choose' : 'Choose'
  const message =
    `The receiver cannot listen on port ${port} (${code}). ` +
    `${advice} another port with UPSHOT_PORT; 0 takes a free one.`
  return new UpshotError('invalid_config', message, { cause })
}

/**
 * Milliseconds by which our clock was set forward since this call. None where it was set back, or
 * where the clock has no `uptime`.
 */
function watchClock(clock: Clock): () => number {
  const startOf = () => clock.now() - (clock.uptime?.() ?? clock.now())
  const started = startOf()
  return () => Math.max(0, startOf() - started)
}
