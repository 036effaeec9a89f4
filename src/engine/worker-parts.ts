import type { AnyWorkflow } from '../author/workflow.ts'
import type { Route } from '../core/incoming/route.ts'
import type { Publish } from '../core/notices.ts'
import { HEARTBEAT_MS } from '../core/runs/lease.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import type { SpellingsOf } from './admit/gather-event-facts.ts'
import type { MatcherParts } from './event-matcher.ts'
import type { FilesFor } from './execute/run-context.ts'
import type { PassParts } from './execute/run-pass.ts'
import type { SettleStore } from './execute/settle-run.ts'

export type WorkerStore = SettleStore &
  PassParts['store'] &
  MatcherParts['store'] &
  Pick<
    Store,
    | 'startWorker'
    | 'beatWorker'
    | 'recoverRuns'
    | 'stopWorker'
    | 'saveDelivery'
    | 'claimRuns'
    | 'claimUnadmittedRuns'
    | 'nextDueAt'
    | 'listLeases'
  >

export interface WorkerParts {
  store: WorkerStore
  clock: Clock
  random: () => number
  publish: Publish
  findWorkflow: (id: string) => AnyWorkflow | undefined
  filesFor: FilesFor
  /** What an event that a step sends starts. */
  routes: () => Promise<readonly Route[]> | readonly Route[]
  /** Default: our own names. */
  spellingsOf?: SpellingsOf
  /** Runs at work at the same time. */
  slots: number
  /**
   * Whether some workflow limits its runs: then new ones are looked at even while no slot is free.
   */
  admitsAhead?: () => boolean
  /** How long `Worker.stop` waits for steps at work before it gives them up. */
  drainMs: number
  /**
   * How often it looks for runs nobody told it of, and says that it is alive; defaults 1 s and
   * {@link HEARTBEAT_MS}.
   */
  pollMs?: number
  beatMs?: number
}
