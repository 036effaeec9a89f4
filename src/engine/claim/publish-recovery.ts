import type { Publish } from '../../core/notices.ts'
import type { Recovery } from '../../core/store/workers.ts'

/** Says what became of the runs of dead workers; nothing where there were none. */
export function publishRecovery(publish: Publish, { count, suspects, parked }: Recovery): void {
  if (count > 0) publish({ kind: 'runs.recovered', count })
  if (suspects.length > 0) publish({ kind: 'runs.suspected', runs: suspects })
  for (const run of parked) {
    publish({ kind: 'run.parked', ...run, root: null, parentRun: null, dueAt: null, awaits: null })
  }
}
