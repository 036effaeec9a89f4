import { randomWord } from '../../core/ids.ts'
import { PROCESS_BEAT_MS, type ProcessRecord } from '../../core/store/process-record.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

interface BeatParts {
  store: Pick<Store, 'beatProcess' | 'removeProcess'>
  clock: Clock
  /** Modules that this process could not load. */
  broken: () => ProcessRecord['broken']
}

/** Writes the row by which the admin servers of other processes find this one. */
export class ProcessBeat {
  readonly #parts: BeatParts
  readonly id = randomWord().slice(0, 16)
  #beating: Promise<void> = Promise.resolve()
  #beat = () => {}
  #cancel = () => {}
  #isStopped = false

  constructor(parts: BeatParts) {
    this.#parts = parts
  }

  /** Resolves once the first row is written. */
  start(about: Omit<ProcessRecord, 'id' | 'startedAt' | 'seenAt' | 'broken'>): Promise<void> {
    const { store, clock, broken } = this.#parts
    const startedAt = clock.now()
    this.#beat = () => {
      this.#cancel()
      const seenAt = clock.now()
      // A beat that fails is one that others miss; `/readyz` reports the store.
      const row = { ...about, id: this.id, startedAt, seenAt, broken: broken() }
      this.#beating = store.beatProcess(row).catch(() => {})
      this.#cancel = clock.at(seenAt + PROCESS_BEAT_MS, this.#beat)
    }
    return this.tell()
  }

  /** Writes the row now; resolves once it is written. */
  tell(): Promise<void> {
    if (!this.#isStopped) this.#beat()
    return this.#beating
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancel()
    await this.#beating
    await this.#parts.store.removeProcess(this.id).catch(() => {})
  }
}
