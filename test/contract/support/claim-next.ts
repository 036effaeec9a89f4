import type { ClaimedRun } from '../../../src/core/runs/claim.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { NOW } from '../../support/fixtures.ts'

/** Claims the next run for `wrk_1`; fails the test if there is none. */
export async function claimNext(store: Store, now = NOW): Promise<ClaimedRun> {
  const [run] = await store.claimRuns('wrk_1', 1, now)
  if (!run) throw new Error('no run could be claimed')
  return run
}
