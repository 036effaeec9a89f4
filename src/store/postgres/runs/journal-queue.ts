import type { Lease } from '../../../core/runs/lease.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { SavedWithStep } from '../../../core/runs/wait.ts'
import type { StepFailure } from '../../../core/store/journal.ts'
import { isInLedger } from '../../rows/safety/is-in-ledger.ts'
import type { Call } from '../database/calls/call.ts'
import { bigints, booleans, type Column, integers, texts } from '../database/calls/columns.ts'
import type { Connection } from '../database/connection.ts'

/** A step with nothing else in its commit. */
interface PlainStep {
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

export type PlainCall = PlainStep | PlainEnd

/** `more`: the end has further effects, and is not written yet. */
export type JournalVerdict = 'held' | 'done' | 'more' | 'stale'

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

const PARAMETERS = 23

/** Saves many steps and completes many runs in one call. */
export class JournalSaves {
  readonly #save: Call<{ number: number; verdict: JournalVerdict }>

  constructor(db: Connection) {
    this.#save = db.prepareCall(`SELECT number, verdict FROM save_journal_1(${Array(PARAMETERS).fill('?')})`)
  }

  /** The verdict of each call's lease. */
  async save(calls: readonly PlainCall[]): Promise<JournalVerdict[]> {
    const leases = new Map<string, { lease: Lease; number: number }>()
    const numbers = calls.map(({ lease }) => {
      const name = `${lease.runId} ${lease.fence} ${lease.era ?? ''}`
      const known = leases.get(name) ?? { lease, number: leases.size + 1 }
      leases.set(name, known)
      return known.number
    })
    const distinct = [...leases.values()]
    const rows = await this.#save.all(
      texts(distinct, ({ lease }) => lease.runId),
      bigints(distinct, ({ lease }) => lease.fence),
      texts(distinct, ({ lease }) => lease.era ?? null),
      ...stepColumns(calls, numbers),
      ...endColumns(calls, numbers),
    )
    const verdicts = new Map(rows.map(({ number, verdict }) => [number, verdict]))
    return numbers.map((number) => verdicts.get(number) ?? 'stale')
  }
}

function stepColumns(calls: readonly PlainCall[], numbers: readonly number[]): Column[] {
  // Of two rows of one step, the later one is written.
  const latest = new Map<string, { call: PlainStep; number: number }>()
  for (const [index, call] of calls.entries()) {
    const number = numbers[index] ?? 0
    if ('step' in call) latest.set(`${number} ${call.step.key}`, { call, number })
  }
  const steps = [...latest.values()]
  return [
    integers(steps, ({ number }) => number),
    texts(steps, ({ call }) => call.step.key),
    bigints(steps, ({ call }) => call.step.position),
    texts(steps, ({ call }) => call.step.kind),
    texts(steps, ({ call }) => call.step.effect),
    texts(steps, ({ call }) => call.step.status),
    bigints(steps, ({ call }) => call.step.attempt),
    texts(steps, ({ call }) => call.step.output),
    bigints(steps, ({ call }) => call.step.startedAt),
    bigints(steps, ({ call }) => call.step.finishedAt),
    bigints(steps, ({ call }) => call.step.apartBytes ?? null),
    texts(steps, ({ call: { step } }) => (step.error === null ? null : JSON.stringify(step.error))),
    texts(steps, ({ call }) => call.step.target),
    bigints(steps, ({ call }) => call.step.dueAt),
    bigints(steps, ({ call }) => call.step.settled ?? null),
    texts(steps, ({ call }) => call.codeHash),
    booleans(steps, ({ call }) => call.isSettled),
  ]
}

function endColumns(calls: readonly PlainCall[], numbers: readonly number[]): Column[] {
  // A run ends once: of two ends under one lease, the first one counts.
  const first = new Map<number, PlainEnd>()
  for (const [index, call] of calls.entries()) {
    const number = numbers[index] ?? 0
    if ('output' in call && !first.has(number)) first.set(number, call)
  }
  const ends = [...first.values()]
  return [
    integers([...first.keys()], (number) => number),
    texts(ends, ({ output }) => output),
    bigints(ends, ({ now }) => now),
  ]
}
