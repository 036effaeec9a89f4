import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { OwnWorkItem } from '../pass/own-work.ts'
import type { WorkerParts } from '../worker-parts.ts'

/** Most places of timers that one worker tells. */
const MAX_TOLD = 1_000

/** Publishes what code does outside steps; each timer's place once. */
export function reportOwnWork({ publish, reportsTimers = false }: Pick<WorkerParts, 'publish' | 'reportsTimers'>) {
  const told = new Set<string>()
  const tell = (kind: 'code.pending' | 'code.timer', { lease, workflow }: ClaimedRun, { place }: OwnWorkItem) =>
    publish({ kind, run: lease.runId, workflow, place })
  const reportTimer = (run: ClaimedRun, item: OwnWorkItem) => {
    const key = `${run.workflow} ${item.place}`
    if (told.has(key) || told.size >= MAX_TOLD) return
    told.add(key)
    tell('code.timer', run, item)
  }
  return {
    reportPending: (run: ClaimedRun, item: OwnWorkItem) => tell('code.pending', run, item),
    reportTimer: reportsTimers ? reportTimer : undefined,
  }
}
