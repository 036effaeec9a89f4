import type { Recording } from '../../../core/runs/claim.ts'
import type { Claims } from './claims.ts'
import type { RunTable } from './run-table.ts'
import type { StepTable } from './step-table.ts'

/** Runs with their journals, in the order of the ids. */
export async function readRecordings(
  { runs, claims, steps }: { runs: RunTable; claims: Claims; steps: StepTable },
  runIds: readonly string[],
): Promise<Recording[]> {
  const recordings: Recording[] = []
  for (const id of runIds) {
    const run = await runs.find(id)
    const claim = await claims.readAsClaimed(id)
    if (run && claim) recordings.push({ run, claim, steps: await steps.list(id) })
  }
  return recordings
}
