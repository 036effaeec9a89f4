import { EMPTY_BOOK, takeIn } from '../../core/alerts/alert-book.ts'
import type { AlertPlan, AlertRule } from '../../core/alerts/alert-rule.ts'
import { type AlertItem, noteSending, planMessage } from '../../core/alerts/decide-message.ts'
import { describeError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, Loop } from '../../core/time.ts'
import { deliverMessage } from './deliver-message.ts'
import { type LookParts, lookFor } from './look.ts'
import type { PreviewShadows } from './look-at-shadows.ts'
import { writeMessage } from './message.ts'

const PERIOD_MS = 10_000

interface AlertParts extends Omit<LookParts, 'previewShadows'> {
  store: Store
  clock: Clock
  publish: Publish
  plan: AlertPlan
  /** Address of the dashboard for links; null where nothing tells. */
  base: string | null
  /** Previews shadows until the signal aborts. */
  openShadows: (signal: AbortSignal) => PreviewShadows
}

/**
 * Looks for every rule each 10 s, and sends what is due. Several processes may do so side by side:
 * the one that saves a rule's book sends its message. See decision 64.
 */
export class AlertWatch extends Loop {
  readonly #parts: Omit<AlertParts, 'openShadows'> & LookParts
  readonly #sendings = new Set<Promise<void>>()
  #isTidy = false

  constructor({ openShadows, ...parts }: AlertParts) {
    super(parts.clock, { everyMs: PERIOD_MS })
    this.#parts = { ...parts, previewShadows: openShadows(this.signal) }
  }

  /** Resolves when nothing more is sent or written. */
  override async stop(): Promise<void> {
    await super.stop()
    await Promise.all(this.#sendings)
  }

  /** Looks once for every rule; resolves when what was due is sent. */
  async look(): Promise<void> {
    for (const rule of this.#parts.plan.rules) await this.#lookFor(rule)
    await Promise.all(this.#sendings)
  }

  protected async round(): Promise<undefined> {
    const { plan, store } = this.#parts
    if (!this.#isTidy)
      await store.keepAlertBooks(plan.rules.map(({ name }) => name)).catch(this.#fault('tidying the alerts'))
    this.#isTidy = true
    // A channel that hangs holds up no look of another rule.
    for (const rule of plan.rules) await this.#lookFor(rule)
  }

  async #lookFor(rule: AlertRule): Promise<void> {
    try {
      const items = await this.#decide(rule)
      if (items === null) return
      const sending = this.#send(rule, items).catch(this.#fault(`sending the alert ${rule.name}`))
      this.#sendings.add(sending)
      void sending.finally(() => this.#sendings.delete(sending))
    } catch (error) {
      this.#fault(`looking for the alert ${rule.name}`)(error)
    }
  }

  /** The items of a message that this process has to send; null for none. */
  async #decide(rule: AlertRule): Promise<readonly AlertItem[] | null> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const { book, version } = (await store.loadAlertBook(rule.name)) ?? { book: EMPTY_BOOK, version: 0 }
    const seen = takeIn(rule, book, await lookFor(this.#parts, rule, book, now), now)
    const message = planMessage(rule, seen, now)
    const next = message?.book ?? seen
    if (JSON.stringify(next) === JSON.stringify(book)) return null
    // Another process that was first has seen the same, and sends.
    const isOurs = await store.saveAlertBook(rule.name, next, version)
    return isOurs ? (message?.items ?? null) : null
  }

  async #send(rule: AlertRule, items: readonly AlertItem[]): Promise<void> {
    const { plan, base, clock, publish } = this.#parts
    const message = writeMessage(rule, items, { base, now: clock.now() })
    const sendings = await deliverMessage(plan, rule, message, { clock, signal: this.signal })
    const { summary } = message
    for (const { channel, error } of sendings) {
      publish({ kind: 'alert.sent', rule: rule.name, channel, summary, items: items.length, error })
    }
    const results = sendings.map(({ channel, error }) => ({ channel, error: error?.message ?? null }))
    await this.#note(rule, { items, results })
  }

  /** Meanwhile others may have looked, so the book is read again until it is saved. */
  async #note(rule: AlertRule, sent: Parameters<typeof noteSending>[2]): Promise<void> {
    const { store, clock } = this.#parts
    for (;;) {
      const kept = await store.loadAlertBook(rule.name)
      if (kept === null) return
      const noted = noteSending(rule, kept.book, sent, clock.now())
      if (await store.saveAlertBook(rule.name, noted, kept.version)) return
    }
  }

  #fault(where: string): (error: unknown) => void {
    return (error) => {
      if (!this.signal.aborted) this.#parts.publish({ kind: 'fault', where, error: describeError(error) })
    }
  }
}
