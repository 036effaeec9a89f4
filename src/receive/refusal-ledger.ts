import { describeError } from '../core/errors.ts'
import type { Refusal, RefusedDelivery } from '../core/incoming/delivery.ts'
import type { Publish } from '../core/notices.ts'
import type { Store } from '../core/store/store.ts'

/** Rows that wait for their commit; in a flood the others are only counted. */
const MAX_WAITING = 100
/** A process that is killed loses count of no more than these. */
const MAX_UNCOUNTED = 1_000

/**
 * Keeps refusals without holding up anybody's answer. What a flood leaves no time for is counted,
 * not lost.
 */
export class RefusalLedger {
  readonly #store: Pick<Store, 'saveRefusal' | 'countRefusals'>
  readonly #publish: Publish
  readonly #writes = new Set<Promise<void>>()
  #unlisted = new Map<Refusal, number>()
  #unlistedCount = 0

  constructor(store: Pick<Store, 'saveRefusal' | 'countRefusals'>, publish: Publish) {
    this.#store = store
    this.#publish = publish
  }

  keep(refusal: RefusedDelivery): void {
    if (this.#writes.size < MAX_WAITING) this.#follow(this.#store.saveRefusal(refusal))
    else this.#skip(refusal.verdict)
  }

  /**
   * Resolves when everything that was kept or counted is in the store, or has failed to get there.
   */
  async settle(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes)
  }

  #skip(verdict: Refusal): void {
    this.#unlisted.set(verdict, 1 + (this.#unlisted.get(verdict) ?? 0))
    this.#unlistedCount += 1
  }

  #follow(written: Promise<void>): void {
    const write = written
      .catch((error: unknown) =>
        this.#publish({ kind: 'fault', where: 'the delivery ledger', error: describeError(error) }),
      )
      .then(() => {
        this.#writes.delete(write)
        this.#count()
      })
    this.#writes.add(write)
  }

  /** When the flood pauses for a moment, or has brought many more. */
  #count(): void {
    const isDue = this.#writes.size === 0 || this.#unlistedCount >= MAX_UNCOUNTED
    if (!isDue || this.#unlistedCount === 0) return
    const counts = Object.fromEntries(this.#unlisted)
    this.#unlisted = new Map()
    this.#unlistedCount = 0
    this.#follow(this.#store.countRefusals(counts))
  }
}
