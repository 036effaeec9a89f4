import { describeError } from '../../core/errors.ts'
import { type MakingUp, makeUpEvents } from './make-up-events.ts'
import { type FileMatching, matchFiles } from './match-files.ts'

/** How often it looks for events to match and to make up. */
const PERIOD_MS = 5_000

type Parts = FileMatching & MakingUp

/** Matches events to files, and makes up lost ones, while storages are compared with events. */
export class FileWatch {
  readonly #parts: Parts
  #cancel = () => {}
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  start(): void {
    this.#looking = this.#look()
  }

  /** Resolves when nothing more will be written. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { clock, publish } = this.#parts
    const mayGoOn = () => !this.#isStopped
    try {
      await matchFiles(this.#parts, mayGoOn)
      if (mayGoOn()) await makeUpEvents(this.#parts, mayGoOn)
    } catch (error) {
      publish({ kind: 'fault', where: 'comparing files with events', error: describeError(error) })
    }
    if (mayGoOn()) this.#cancel = clock.at(clock.now() + PERIOD_MS, () => this.start())
  }
}
