import { randomWord } from '../../core/ids.ts'
import { PROCESS_BEAT_MS, type ProcessRecord } from '../../core/store/health/processes.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

/** Writes the row by which the admin servers of other processes find this one. */
export class ProcessBeat {
  readonly #store: Pick<Store, 'beatProcess' | 'removeProcess'>
  readonly #clock: Clock
  readonly id = randomWord().slice(0, 16)
  #beating: Promise<void> = Promise.resolve()
  #cancel = () => {}
  #isStopped = false

  constructor({ store, clock }: { store: Pick<Store, 'beatProcess' | 'removeProcess'>; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** Resolves once the first row is written. */
  start(about: Omit<ProcessRecord, 'id' | 'startedAt' | 'seenAt'>): Promise<void> {
    const startedAt = this.#clock.now()
    const beat = () => {
      const seenAt = this.#clock.now()
      // A beat that fails is one that others miss; `/readyz` reports the store.
      this.#beating = this.#store.beatProcess({ ...about, id: this.id, startedAt, seenAt }).catch(() => {})
      this.#cancel = this.#clock.at(seenAt + PROCESS_BEAT_MS, beat)
    }
    if (!this.#isStopped) beat()
    return this.#beating
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancel()
    await this.#beating
    await this.#store.removeProcess(this.id).catch(() => {})
  }
}
