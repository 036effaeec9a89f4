import { describeError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import type { LoadedWorkflows } from '../../core/runs/workflow-record.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, Loop } from '../../core/time.ts'

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
export class DefinitionWatch extends Loop {
  readonly #parts: Parts
  /** Workflows of this version are other than the workers at work define them. */
  #outdated: { version: number | null; since: number } = { version: null, since: 0 }

  constructor(parts: Parts) {
    super(parts.clock, { everyMs: LOOK_EVERY_MS, firstMs: LOOK_EVERY_MS })
    this.#parts = parts
  }

  protected async round(): Promise<undefined> {
    const { store, clock, loaded } = this.#parts
    const now = clock.now()
    const { version, since } = this.#outdated
    const outdated = await store.reviewWorkflows(loaded(), now - since < RETURN_MS ? null : version, now)
    if (outdated !== version) this.#outdated = { version: outdated, since: now }
  }

  protected override failed(error: unknown): void {
    this.#parts.publish({ kind: 'fault', where: 'reviewing the workflows', error: describeError(error) })
  }
}
