import { describeError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import type { LoadedWorkflows } from '../../core/runs/workflow-record.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, Loop } from '../../core/time.ts'

/** How often a worker compares the workflows with the definitions of the workers at work. */
const LOOK_EVERY_MS = 60_000
/** Looks in which a worker that stopped may start again: until then, what it defined stays. */
const RETURN_LOOKS = 10

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
  #outdated: { version: number | null; looks: number } = { version: null, looks: 0 }

  constructor(parts: Parts) {
    super(parts.clock, { everyMs: LOOK_EVERY_MS, firstMs: LOOK_EVERY_MS })
    this.#parts = parts
  }

  protected async round(): Promise<undefined> {
    const { store, clock, loaded } = this.#parts
    const { version, looks } = this.#outdated
    const outdated = await store.reviewWorkflows(loaded(), looks < RETURN_LOOKS ? null : version, clock.now())
    this.#outdated = { version: outdated, looks: outdated === version ? looks + 1 : 1 }
  }

  protected override failed(error: unknown): void {
    this.#parts.publish({ kind: 'fault', where: 'reviewing the workflows', error: describeError(error) })
  }
}
