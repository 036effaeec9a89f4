import type { Lease } from '../../../core/runs/lease.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { SavedWithStep } from '../../../core/runs/wait.ts'
import type { StepFailure } from '../../../core/store/journal.ts'
import { isInLedger } from '../../rows/is-in-ledger.ts'
import type { Connection, Statement } from '../database/connection.ts'

/** A step with nothing else in its commit. */
export interface PlainStep {
  lease: Lease
  step: Checkpoint
  codeHash: string | null
  isSettled: boolean
}

/** The end of a run with a small output. */
export interface PlainEnd {
  lease: Lease
  output: string
  now: number
}

/** `more`: the end has further effects, and nothing is written yet. */
export type EndVerdict = 'done' | 'more' | 'stale'

/** The step where nothing else is in its commit; null for any other. */
export function asPlainStep(
  lease: Lease,
  step: Checkpoint,
  failure?: StepFailure,
  saved?: SavedWithStep,
): PlainStep | null {
  const { codeHash = null, isSettled = false, ...rest } = saved ?? {}
  if (failure !== undefined || Object.keys(rest).length > 0 || isInLedger(step, saved)) return null
  return { lease, step, codeHash, isSettled }
}

/** Saves many steps, or completes many runs, in one call. */
export class JournalSaves {
  readonly #saveSteps: Statement<unknown[], string>
  readonly #completeRuns: Statement<unknown[], { run: string; verdict: EndVerdict }>

  constructor(db: Connection) {
    this.#saveSteps = db.prepare<unknown[], string>(`SELECT save_steps_1(${Array(18).fill('?')})`).pluck()
    this.#completeRuns = db.prepare<unknown[], { run: string; verdict: EndVerdict }>(
      'SELECT run, verdict FROM complete_runs_1(?, ?, ?, ?)',
    )
  }

  /** False for each whose lease is stale. Of two rows of one step, the later one is written. */
  async saveSteps(calls: readonly PlainStep[]): Promise<boolean[]> {
    const latest = [...new Map(calls.map((call) => [JSON.stringify([call.lease.runId, call.step.key]), call])).values()]
    const column = <T>(read: (call: PlainStep) => T) => latest.map(read)
    const held = await this.#saveSteps.all(
      column(({ lease }) => lease.runId),
      column(({ lease }) => lease.fence),
      column(({ step }) => step.key),
      column(({ step }) => step.position),
      column(({ step }) => step.kind),
      column(({ step }) => step.effect),
      column(({ step }) => step.status),
      column(({ step }) => step.attempt),
      column(({ step }) => step.output),
      column(({ step }) => step.startedAt),
      column(({ step }) => step.finishedAt),
      column(({ step }) => step.apartBytes ?? null),
      column(({ step }) => (step.error === null ? null : JSON.stringify(step.error))),
      column(({ step }) => step.target),
      column(({ step }) => step.dueAt),
      column(({ step }) => step.settled ?? null),
      column(({ codeHash }) => codeHash),
      column(({ isSettled }) => isSettled),
    )
    const runs = new Set(held)
    return calls.map(({ lease }) => runs.has(lease.runId))
  }

  async completeRuns(calls: readonly PlainEnd[]): Promise<EndVerdict[]> {
    const rows = await this.#completeRuns.all(
      calls.map(({ lease }) => lease.runId),
      calls.map(({ lease }) => lease.fence),
      calls.map(({ output }) => output),
      calls.map(({ now }) => now),
    )
    const verdicts = new Map(rows.map(({ run, verdict }) => [run, verdict]))
    return calls.map(({ lease }) => verdicts.get(lease.runId) ?? 'stale')
  }
}
