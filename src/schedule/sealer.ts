import { describeError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import { type Anchor, anchorOf } from '../core/safety/ledger/anchor.ts'
import type { Seal } from '../core/safety/ledger/seal.ts'
import type { Store } from '../core/store/store.ts'
import { type Clock, Loop } from '../core/time.ts'

/** A row is sealed within this time, and can be changed unseen until then. */
const SEAL_EVERY_MS = 5_000
/** Time between two anchors; a decision of a person is anchored at once. */
const ANCHOR_EVERY_MS = 3_600_000
/** Rows of a seal at most: reading and sealing them takes about 5 ms of the writer. */
const ROWS_A_SEAL = 1_000

type SealStore = Pick<Store, 'readSealState' | 'sealEffects'>

interface SealerParts {
  store: SealStore
  clock: Clock
  publish: Publish
  /** Writes an anchor outside the database; null where only the log has it. */
  keepAnchor: ((anchor: Anchor) => void) | null
  /** Stops all effects where the chain lacks an anchor. Default: nothing looks. */
  stopRestored?: ((anchor: Anchor) => Promise<unknown>) | null
}

/** Seals the effect ledger in the background, and anchors the end of its chain. See decision 58. */
export class Sealer extends Loop {
  readonly #parts: SealerParts
  #anchored: { seal: number; at: number } | null = null
  /** The end of the chain in the last round, which a failover may have lost since. */
  #newest: Anchor | null = null

  constructor(parts: SealerParts) {
    super(parts.clock, { everyMs: SEAL_EVERY_MS })
    this.#parts = parts
  }

  /** Seals what is left. Resolves when nothing more will be written. */
  override async stop(): Promise<void> {
    const isAtWork = this.isAtWork
    await super.stop()
    if (isAtWork) await this.round().catch((error: unknown) => this.failed(error))
  }

  protected async round(): Promise<undefined> {
    const { store, clock, stopRestored } = this.#parts
    const { head, hasDecision } = await sealLedger(store, clock)
    // Behind the seal: a failover between the two would put another end in the place of this one.
    if (this.#newest) await stopRestored?.(this.#newest)
    this.#newest = head && anchorOf(head, clock.now())
    if (head !== null && (hasDecision || this.#isDue(head))) this.#anchor(head)
  }

  protected override failed(error: unknown): void {
    this.#parts.publish({ kind: 'fault', where: 'sealing the effect ledger', error: describeError(error) })
  }

  #isDue({ number }: Seal): boolean {
    if (this.#anchored === null) return true
    const { seal, at } = this.#anchored
    // The last seals of a process are anchored, too: nobody knows when the next one begins.
    // A clock that was set back since counts, too.
    return number !== seal && (this.signal.aborted || Math.abs(this.#parts.clock.now() - at) >= ANCHOR_EVERY_MS)
  }

  #anchor(head: Seal): void {
    const { clock, publish, keepAnchor } = this.#parts
    const anchor = anchorOf(head, clock.now())
    keepAnchor?.(anchor)
    this.#anchored = anchor
    const { seal, last, mac } = anchor
    publish({ kind: 'effects.anchored', seal, last, mac })
  }
}

/** Seals every row that no seal covers, a thousand a commit. */
export async function sealLedger(
  store: SealStore,
  clock: Pick<Clock, 'now'>,
): Promise<{ head: Seal | null; hasDecision: boolean }> {
  const state = await store.readSealState()
  let { head } = state
  let hasDecision = false
  for (let isDone = state.unsealed === 0; !isDone; ) {
    const sealed = await store.sealEffects({ now: clock.now(), limit: ROWS_A_SEAL })
    head = sealed.head
    hasDecision ||= sealed.hasDecision
    isDone = sealed.rows < ROWS_A_SEAL
  }
  return { head, hasDecision }
}
