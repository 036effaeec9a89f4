import type { Recording } from '../../../core/runs/claim.ts'
import type { Claims } from './claims.ts'
import type { RunTable } from './run-table.ts'
import type { StepTable } from './step-table.ts'

/** Runs with their journals, in the order of the ids. */
export function readRecordings(
  { runs, claims, steps }: { runs: RunTable; claims: Claims; steps: StepTable },
  runIds: readonly string[],
): Recording[] {
  return runIds.flatMap((id) => {
    const run = runs.find(id)
    const claim = claims.readAsClaimed(id)
    return run && claim ? [{ run, claim, steps: steps.list(id) }] : []
  })
}
