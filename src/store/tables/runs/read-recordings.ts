import type { Recording } from '../../../core/runs/claim.ts'
import type { ClaimReader } from './claim-reader.ts'
import type { RunTable } from './run-table.ts'
import type { StepTable } from './step-table.ts'

/** Runs with their journals, in the order of the ids. */
export async function readRecordings(
  { runs, claimReader, steps }: { runs: RunTable; claimReader: ClaimReader; steps: StepTable },
  runIds: readonly string[],
): Promise<Recording[]> {
  const claimed = new Map((await claimReader.readAsClaimed(runIds)).map((claim) => [claim.lease.runId, claim]))
  const found = await Array.fromAsync(runIds, async (id): Promise<Recording[]> => {
    const claim = claimed.get(id)
    const run = claim ? await runs.find(id) : null
    return claim && run ? [{ run, claim, steps: await steps.list(id) }] : []
  })
  return found.flat()
}
