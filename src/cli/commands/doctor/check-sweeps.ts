import { readSweepViews, type SweepView } from '../../../admin/queries/read-sweep-views.ts'
import { FILE_TYPES, type SweepPlan } from '../../../core/service/sweep/sweep-plan.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { commandClock } from '../../open/command-clock.ts'
import { describeSweepView } from '../events/losses/sweep-view.ts'
import { type Finding, ok, warn } from './finding.ts'

/** A sweep is late when none was complete for as long as this many should have been. */
const LATE_AFTER = 3

const LOST = 'See what was lost with "upshot coverage --since 7d", and why with "upshot endpoints list".'

/** One finding for each storage that is compared with events; none where no storage is. */
export async function checkSweeps(store: ReadStore, { reconcile: plans = [] }: Config): Promise<Finding[]> {
  if (plans.length === 0) return []
  const now = commandClock.now()
  const views = await readSweepViews(store, now)
  const book = (await store.loadFileBook())?.book
  const missing = Object.values(FILE_TYPES).filter((type) => book !== undefined && book.types[type] === undefined)
  const unmatched = missing.map((type) =>
    warn('sweeps', `no defineEvent of ${type} has \`file\`, so none of its events can be missed`, {
      fix: 'Add `file` to it: see docs/coverage.md.',
    }),
  )
  return [...plans.map((plan) => judge(plan, views, now)), ...unmatched]
}

function judge(plan: SweepPlan, views: readonly SweepView[], now: number): Finding {
  const { account, storage, everyMs } = plan
  const view = views.find((each) => each.account === account && each.storage === storage)
  if (view === undefined)
    return warn('sweeps', `${storage} was never swept`, { fix: 'Start the app, or a process with the role scheduler.' })
  const { complete } = view
  const found = describeSweepView(view, now)
  if (complete === null) return warn('sweeps', found, { fix: 'Until one is complete, nothing can be lost.' })
  const dueMs = LATE_AFTER * Math.max(everyMs, complete.endedAt - complete.startedAt)
  if (view.held > 0) return warn('sweeps', found, { fix: 'Decide about them: upshot approvals list' })
  if (view.lost > 0) return warn('sweeps', found, { fix: LOST })
  if (complete.endedAt < now - dueMs)
    return warn('sweeps', found, { fix: 'It is late: look for "sweep" in the log, and give it a larger `budget`.' })
  return ok('sweeps', found)
}
