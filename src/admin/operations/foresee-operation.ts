import { planReset } from '../../core/runs/step.ts'
import type { BulkPlan, BulkRefusal } from '../../core/safety/bulk.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { readTargets, type Target, type TargetPart } from './read-targets.ts'

/** Rows that one read looks at. */
const ROWS = 5_000
/** Runs or events, and refusals, that are told. */
const SHOWN = 20

type ForeseeStore = Pick<ReadStore, 'searchRuns' | 'walkEvents' | 'listSteps'>

/** The outcome that an operation would have. */
interface Foreseen {
  /** Runs or events that it fits, and the first 20 of them. */
  total: number
  examples: { target: string; about: string }[]
  /** Those that it does not fit, and the first 20 of them with the reason. */
  refused: number
  refusals: BulkRefusal[]
  /** Of a replay: the new runs. */
  runs: number
  /** Steps of the runs that would happen again. */
  writes: number
  deletes: number
}

/** Counts as the operation itself does, and writes nothing. Ends early where the asker is gone. */
export async function foreseeOperation(store: ForeseeStore, plan: BulkPlan, signal: AbortSignal): Promise<Foreseen> {
  const foreseen: Foreseen = { total: 0, examples: [], refused: 0, refusals: [], runs: 0, writes: 0, deletes: 0 }
  for (let after: string | null = null; ; ) {
    signal.throwIfAborted()
    const slice = { rows: ROWS, limit: ROWS, after }
    const part: TargetPart = await readTargets(store, plan, slice, plan.createdAt)
    for (const target of part.targets) {
      add(foreseen, target)
      if (target.why === null) await addRepeated(store, foreseen, { plan, target })
    }
    if (part.next === null) return foreseen
    after = part.next
  }
}

function add(foreseen: Foreseen, { id, why, workflows, of }: Target): void {
  if (why !== null) {
    foreseen.refused += 1
    if (foreseen.refusals.length < SHOWN) foreseen.refusals.push({ target: id, why })
    return
  }
  foreseen.total += 1
  foreseen.runs += workflows.length
  const about = 'status' in of ? `${of.workflow}  ${of.status}` : `${of.type}  ${workflows.join(', ')}`
  if (foreseen.examples.length < SHOWN) foreseen.examples.push({ target: id, about })
}

/** Adds the steps that would happen again. */
async function addRepeated(
  store: ForeseeStore,
  foreseen: Foreseen,
  { plan: { kind }, target: { id, of } }: { plan: BulkPlan; target: Target },
): Promise<void> {
  if (kind !== 'retry' && kind !== 'restart') return
  const steps = await store.listSteps(id, 0)
  const error = 'error' in of ? of.error : null
  const repeated = new Set(kind === 'restart' ? steps.map(({ key }) => key) : planReset(steps, error))
  for (const { effect } of steps.filter(({ key }) => repeated.has(key))) {
    if (effect === 'write') foreseen.writes += 1
    if (effect === 'delete') foreseen.deletes += 1
  }
}
