import type { ListReads, ReadStore, Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { BulkRunner } from '../operations/bulk-runner.ts'
import type { Health } from '../ports/health.ts'
import type { Surroundings } from '../ports/surroundings.ts'

/**
 * The process's own store, whose writes leave an audit row: one without a row does not compile.
 * Holding and releasing runs carries on an audited action.
 */
export type HandlerStore = ReadStore &
  Pick<Store, 'carryOutDecision' | 'operate' | 'recordAction' | 'holdRuns' | 'releaseHeldRuns'>

/** The app as its resources see it. */
export interface ResourceParts {
  store: HandlerStore
  /** Reads for one list or search, which load the primary of the database as little as they can. */
  openLists: () => Promise<ListReads>
  clock: Clock
  surroundings: Surroundings
  /** Works on operations on many rows. */
  runner: Pick<BulkRunner, 'wake'>
  health: Health
}
