import { describeError } from '../../core/errors.ts'
import { isoTime } from '../../core/time.ts'
import type { Fault } from '../faults/fault-rule.ts'
import type { Faults } from '../faults/faults.ts'
import type { Log } from '../options.ts'
import type { SandboxClock } from '../state/clock.ts'
import type { DueDelivery } from './delivery.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { type PostResult, postDelivery, STALE_BY_MS, signDelivery, WRONG_SECRET } from './post-delivery.ts'
import type { Webhook, Webhooks } from './webhooks.ts'

/** Waits before each retry; after the last one the delivery has failed. */
export const RETRY_SCHEDULE_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000]

const MAX_HOLD_MS = 60_000

const GONE: PostResult = { status: null, error: 'the webhook was removed or switched off', durationMs: 0 }
const DROPPED: PostResult = { status: null, error: 'a fault dropped it', durationMs: 0 }

const MAX_AT_ONCE = 32
/** After this time, what a full disk did not take is tried again. */
const AGAIN_MS = 500
/** How long a stop waits for replies. */
const PARTING_MS = 2_000

interface DispatchOptions {
  faults: Faults
  deliveryLog: DeliveryLog
  webhooks: Webhooks
  clock: SandboxClock
  retryScheduleMs: readonly number[]
  timeoutMs: number
  log: Log
}

/** Sends due deliveries, up to 32 at once, until they succeed or run out of retries. */
export class DeliveryDispatcher {
  readonly #options: DispatchOptions
  #sending = new Set<Promise<void>>()
  /** Deliveries that a `reorder` fault holds until the next one is sent. */
  #held = new Set<string>()
  #cancelWake: () => void = () => {}
  #again: NodeJS.Timeout | undefined
  /** Whether a delivery may stand as one that is being sent, and is not. */
  #isUnsaved = false
  #stopping = new AbortController()
  #state: 'new' | 'running' | 'stopped' = 'new'
  #pumpQueued = false

  constructor(options: DispatchOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'running'
    this.#options.deliveryLog.recover()
    this.#options.deliveryLog.changes.on('queued', () => this.#pumpSoon())
    this.#pump()
  }

  /** Waits up to 2 s for replies. Deliveries that are cut off are due at the next start. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#cancelWake()
    clearTimeout(this.#again)
    const cut = setTimeout(() => this.#stopping.abort(), PARTING_MS)
    await Promise.all(this.#sending)
    clearTimeout(cut)
  }

  /** Resolves when nothing is being sent or due. */
  async idle(): Promise<void> {
    this.#pump()
    while (this.#sending.size > 0) {
      await Promise.all(this.#sending)
      this.#pump()
    }
  }

  /** Deferred, because the transaction that queued the delivery is still open. */
  #pumpSoon(): void {
    if (this.#pumpQueued) return
    this.#pumpQueued = true
    setImmediate(() => {
      this.#pumpQueued = false
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#state !== 'running') return
    try {
      this.#sendDue()
    } catch (error) {
      this.#tryAgain(error)
    }
  }

  /** A delivery whose end could not be saved is sent once more, as after a crash. */
  #tryAgain(error: unknown): void {
    this.#options.log({ msg: 'sandbox failed', error: describeError(error) })
    this.#again ??= setTimeout(() => {
      this.#again = undefined
      this.#isUnsaved = true
      this.#pump()
    }, AGAIN_MS).unref()
  }

  #sendDue(): void {
    if (this.#isUnsaved && this.#sending.size === 0) {
      this.#options.deliveryLog.recover()
      this.#isUnsaved = false
    }
    for (const due of this.#options.deliveryLog.claim(MAX_AT_ONCE - this.#sending.size)) {
      const sent = this.#send(due)
        .catch((error: unknown) => this.#tryAgain(error))
        .finally(() => {
          this.#sending.delete(sent)
          this.#pump()
        })
      this.#sending.add(sent)
    }
    this.#cancelWake()
    const next = this.#options.deliveryLog.nextDueAt()
    const hasRoom = this.#sending.size < MAX_AT_ONCE
    if (next !== null && hasRoom) this.#cancelWake = this.#options.clock.at(next, () => this.#pump())
  }

  async #send(due: DueDelivery): Promise<void> {
    const { deliveryLog, webhooks, clock } = this.#options
    // One whose minute is over is sent now: the next delivery must not release it again.
    this.#held.delete(due.id)
    const webhook = webhooks.find(due.webhookId)
    if (!webhook?.enabled) return this.#settle(due, GONE, null)
    const fault = this.#options.faults.strike('delivery', due.event.type)
    if (fault?.drop) return this.#settle(due, DROPPED, null)
    if (fault && !due.isDiverted) {
      if (fault.delayMs) return deliveryLog.postpone(due.id, clock.now() + fault.delayMs)
      if (fault.reorder) return this.#hold(due)
      if (fault.duplicate) deliveryLog.queue(due.event, webhook, 'duplicate')
    }
    await this.#post(due, webhook, fault)
    this.#releaseHeld()
  }

  async #post(due: DueDelivery, webhook: Webhook, fault: Fault | null): Promise<void> {
    const { clock, timeoutMs } = this.#options
    const at = clock.now()
    const composed = composeDelivery(webhook, due, at, fault)
    const result = await postDelivery(composed, { timeoutMs, signal: this.#stopping.signal })
    // Our own stop cut it off. It may have arrived, and is due again at the next start.
    if (this.#stopping.signal.aborted && result.status === null) return
    this.#settle(due, result, this.#decideRetry(due.attempt, result), at)
  }

  #settle(due: DueDelivery, result: PostResult, retryAt: number | null, at = this.#options.clock.now()): void {
    const state = isDelivered(result) ? 'delivered' : retryAt === null ? 'failed' : 'pending'
    this.#options.log({
      msg: 'delivery',
      id: due.id,
      type: due.event.type,
      attempt: due.attempt,
      status: result.status,
      state,
    })
    this.#options.deliveryLog.settle(due.id, { number: due.attempt, at: isoTime(at), ...result }, { state, retryAt })
  }

  /** Waits for the next delivery to be sent, up to a minute. */
  #hold(due: DueDelivery): void {
    const { deliveryLog, clock } = this.#options
    deliveryLog.postpone(due.id, clock.now() + MAX_HOLD_MS)
    this.#held.add(due.id)
  }

  #releaseHeld(): void {
    const { deliveryLog, clock } = this.#options
    for (const id of this.#held) deliveryLog.postpone(id, clock.now())
    this.#held.clear()
  }

  #decideRetry(attempt: number, result: PostResult): number | null {
    const waitMs = this.#options.retryScheduleMs[attempt - 1]
    return isDelivered(result) || waitMs === undefined ? null : this.#options.clock.now() + waitMs
  }
}

function isDelivered({ status }: PostResult): boolean {
  return status !== null && status >= 200 && status < 300
}

function composeDelivery(webhook: Webhook, due: DueDelivery, now: number, fault: Fault | null) {
  const signed = Buffer.from(due.event.body)
  const signedAt = fault?.signature === 'stale' ? now - STALE_BY_MS : now
  const signer = fault?.signature === 'bad' ? { ...webhook, secrets: [WRONG_SECRET] } : webhook
  return {
    url: webhook.url,
    body: fault?.tamper ? Buffer.from(due.event.body.replace(/}$/, ',"tampered":true}')) : signed,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'upshot-sandbox',
      'X-Sandbox-Delivery': `${due.id}.${due.attempt}`,
      'X-Sandbox-Assumed': assumesOf(due.event.type).join(','),
      ...signDelivery(signer, due.event.id, signed, signedAt),
    },
  }
}

/** Points of the specification that a delivery assumes. */
function assumesOf(type: string): string[] {
  const transfer = type.startsWith('transfer.') ? ['N23'] : []
  return ['N18', 'N19', 'N21', 'N22', ...transfer, 'N30']
}
