import { describeError } from '../core/errors.ts'
import type { Refusal, RefusedDelivery } from '../core/incoming/delivery.ts'
import type { Publish } from '../core/notices.ts'
import type { Store } from '../core/store/store.ts'

/** Rows that may wait for their commit; further refusals are only counted. */
const MAX_WAITING = 100
/** Counts held in memory before they are written, which a killed process loses. */
const MAX_UNCOUNTED = 1_000

/** Writes refusals without delaying their answers. In a flood it counts those it cannot list. */
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
    const counts = { [refusal.verdict]: 1 }
    if (this.#writes.size < MAX_WAITING) this.#track(this.#store.saveRefusal(refusal), counts)
    else this.#count(counts)
  }

  /** Resolves when every row and count is in the store, or its write has failed. */
  async settle(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes)
    this.#writeCounts()
    await Promise.all(this.#writes)
  }

  #count(counts: Counts): void {
    for (const [verdict, count] of Object.entries(counts) as [Refusal, number][]) {
      this.#unlisted.set(verdict, count + (this.#unlisted.get(verdict) ?? 0))
      this.#unlistedCount += count
    }
  }

  /** `counts`: the refusals of this write. If it fails, they go with a later one. */
  #track(written: Promise<void>, counts: Counts): void {
    const write = written
      .then(
        () => true,
        (error: unknown) => {
          this.#publish({ kind: 'fault', where: 'the delivery ledger', error: describeError(error) })
          this.#count(counts)
          return false
        },
      )
      .then((isWritten) => {
        this.#writes.delete(write)
        if (isWritten) this.#writeCounts()
      })
    this.#writes.add(write)
  }

  /** Writes when no row waits any more, or when {@link MAX_UNCOUNTED} is reached. */
  #writeCounts(): void {
    const isDue = this.#writes.size === 0 || this.#unlistedCount >= MAX_UNCOUNTED
    if (!isDue || this.#unlistedCount === 0) return
    const counts: Counts = Object.fromEntries(this.#unlisted)
    this.#unlisted = new Map()
    this.#unlistedCount = 0
    this.#track(this.#store.countRefusals(counts), counts)
  }
}

type Counts = Partial<Record<Refusal, number>>
