import type { Setup } from '../../rows/incoming/setup.ts'

/** Endpoints and routes in memory, loaded again after any process has changed them. */
export class SetupCache {
  readonly #readVersion: () => Promise<number>
  readonly #load: () => Promise<Omit<Setup, 'version'>>
  #known: Setup | null = null
  #asking: Promise<Setup> | null = null
  #next: Promise<Setup> | null = null

  constructor(readVersion: () => Promise<number>, load: () => Promise<Omit<Setup, 'version'>>) {
    this.#readVersion = readVersion
    this.#load = load
  }

  /** As it was at this call or later. Calls during a question share the next one. */
  get(): Promise<Setup> {
    if (this.#asking === null) return this.#ask()
    this.#next ??= this.#asking.then(
      () => this.#ask(),
      () => this.#ask(),
    )
    return this.#next
  }

  /** The newest that was read; the next call may give another. */
  get known(): Setup | null {
    return this.#known
  }

  #ask(): Promise<Setup> {
    this.#next = null
    this.#asking = this.#read().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #read(): Promise<Setup> {
    const version = await this.#readVersion()
    if (version !== this.#known?.version) this.#known = { version, ...(await this.#load()) }
    return this.#known
  }
}
