import { describeError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import type { LoadedWorkflows } from '../../core/runs/workflow-record.ts'
import type { Store } from '../../core/store/store.ts'
import { after, type Clock } from '../../core/time.ts'

/** How often a worker compares the workflows with the definitions of the workers at work. */
const LOOK_EVERY_MS = 60_000
/** Time for a worker that stopped to start again: until then, what it defined stays. */
const RETURN_MS = 10 * 60_000

interface Parts {
  store: Pick<Store, 'reviewWorkflows'>
  clock: Clock
  publish: Publish
  /** The workflows of this worker. */
  loaded: () => LoadedWorkflows
}

/** Lets old code decide once no worker has had newer code for a while. See decision 39. */
export class DefinitionWatch {
  readonly #parts: Parts
  /** Workflows of this version are other than the workers at work define them. */
  #outdated: { version: number | null; since: number } = { version: null, since: 0 }
  #cancel = () => {}
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  start(): void {
    if (!this.#isStopped) this.#cancel = after(this.#parts.clock, LOOK_EVERY_MS, () => this.#lookOn())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#looking
  }

  #lookOn(): void {
    const { publish } = this.#parts
    const where = 'reviewing the workflows'
    this.#looking = this.#look()
      .catch((error: unknown) => publish({ kind: 'fault', where, error: describeError(error) }))
      .finally(() => this.start())
  }

  async #look(): Promise<void> {
    const { store, clock, loaded } = this.#parts
    const now = clock.now()
    const { version, since } = this.#outdated
    const outdated = await store.reviewWorkflows(loaded(), now - since < RETURN_MS ? null : version, now)
    if (outdated !== version) this.#outdated = { version: outdated, since: now }
  }
}
