import { readTargets, type Target, type TargetPart } from '../../admin/operations/read-targets.ts'
import type { BulkPlan, BulkRefusal } from '../../core/safety/bulk.ts'
import type { ReadStore } from '../../core/store/store.ts'

/** Rows that one read looks at. */
const ROWS = 5_000
/** Targets and refusals that are kept to be shown. */
const SHOWN = 20

/** A count of an operation, before it is begun. */
export interface Preview {
  /** Runs or events that it fits, and the first 20 of them. */
  total: number
  first: Target[]
  /** Those that it does not fit, and the first 20 of them with the reason. */
  refused: number
  refusals: BulkRefusal[]
  /** Of a replay: the new runs. */
  runs: number
}

/** Counts as the operation itself does, and writes nothing. */
export async function previewOperation(
  store: Pick<ReadStore, 'searchRuns' | 'walkEvents'>,
  plan: BulkPlan,
): Promise<Preview> {
  const preview: Preview = { total: 0, first: [], refused: 0, refusals: [], runs: 0 }
  for (let after: string | null = null; ; ) {
    const slice = { rows: ROWS, limit: ROWS, after }
    const part: TargetPart = await readTargets(store, plan, slice, plan.createdAt)
    for (const target of part.targets) add(preview, target)
    if (part.next === null) return preview
    after = part.next
  }
}

function add(preview: Preview, target: Target): void {
  const { id, why, workflows } = target
  if (why !== null) {
    preview.refused += 1
    if (preview.refusals.length < SHOWN) preview.refusals.push({ target: id, why })
    return
  }
  preview.total += 1
  preview.runs += workflows.length
  if (preview.first.length < SHOWN) preview.first.push(target)
}
