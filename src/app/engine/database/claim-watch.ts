import { type Blockage, observeBeat } from '../../../core/blockage.ts'
import { describeError } from '../../../core/errors.ts'
import type { Publish } from '../../../core/notices.ts'
import type { Store } from '../../../core/store/store.ts'
import { type Clock, Loop } from '../../../core/time.ts'
import type { EngineThread } from '../engine-thread.ts'

/** Interval of looks at what an engine claims. */
export const CLAIM_LOOK_MS = 5_000
/** An engine with room that leaves one run waiting for so long, and claims none, has stalled. */
const STALLED_MS = 30_000

interface Watched {
  store: Pick<Store, 'findClaimable' | 'listLeases' | 'checkWritable'>
  clock: Clock
  publish: Publish
  /** How many runs may be at work now. */
  slots: () => number
  /** The thread whose loop turns; null: none is at work. */
  thread: () => EngineThread | null
  /** Resolves once the thread has ended. */
  stalled: (thread: EngineThread, message: string) => Promise<void>
}

/** Sees an engine that has room and claims nothing, though the same run waits again and again. */
export class ClaimWatch extends Loop {
  readonly #watched: Watched
  #stall: Blockage | null = null

  constructor(watched: Watched) {
    super(watched.clock, { everyMs: CLAIM_LOOK_MS, firstMs: CLAIM_LOOK_MS })
    this.#watched = watched
  }

  protected async round(): Promise<undefined> {
    const { store, clock, slots, stalled } = this.#watched
    const thread = this.#watched.thread()
    const before = this.#stall
    this.#stall = null
    const run = thread && (await store.findClaimable(thread.id, clock.now()))
    if (!thread || run === null || (await store.listLeases(thread.id)).length >= slots()) return
    const now = clock.now()
    const seen = { beat: `${thread.id} ${thread.counts.claims} ${run}`, now }
    const stall = observeBeat(before, seen, CLAIM_LOOK_MS)
    const message = `The engine has claimed no run for ${STALLED_MS / 1_000} s, with room for one, while ${run} waits.`
    if (stall.blockedMs < STALLED_MS) this.#stall = stall
    else {
      // Throws where the database takes no write, as on a full disk: no engine can claim then.
      await store.checkWritable(now)
      await stalled(thread, message)
    }
  }

  protected override failed(error: unknown): void {
    this.#watched.publish({ kind: 'fault', where: 'looking for runs to claim', error: describeError(error) })
  }
}
