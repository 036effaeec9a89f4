import type { Lease } from '../../../core/runs/lease.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { SavedWithStep } from '../../../core/runs/wait.ts'
import type { StepFailure } from '../../../core/store/journal.ts'
import { isInLedger } from '../../rows/safety/is-in-ledger.ts'
import { bigintArray, booleanArray, integerArray, textArray } from '../database/binary-array.ts'
import type { Connection, Statement } from '../database/connection.ts'

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
  readonly #save: Statement<unknown[], { number: number; verdict: JournalVerdict }>

  constructor(db: Connection) {
    this.#save = db.prepare(`SELECT number, verdict FROM save_journal_1(${Array(PARAMETERS).fill('?')})`)
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
    const rows = await this.#save.all(
      textArray(Array.from(leases.values(), ({ lease }) => lease.runId)),
      bigintArray(Array.from(leases.values(), ({ lease }) => lease.fence)),
      textArray(Array.from(leases.values(), ({ lease }) => lease.era ?? null)),
      ...encodeSteps(calls, numbers),
      ...encodeEnds(calls, numbers),
    )
    const verdicts = new Map(rows.map(({ number, verdict }) => [number, verdict]))
    return numbers.map((number) => verdicts.get(number) ?? 'stale')
  }
}

function encodeSteps(calls: readonly PlainCall[], numbers: readonly number[]): Buffer[] {
  // Of two rows of one step, the later one is written.
  const latest = new Map<string, PlainStep & { number: number }>()
  for (const [index, call] of calls.entries()) {
    const number = numbers[index] ?? 0
    if ('step' in call) latest.set(`${number} ${call.step.key}`, { ...call, number })
  }
  const steps = [...latest.values()]
  const texts = (read: (step: Checkpoint) => string | null) => textArray(steps.map(({ step }) => read(step)))
  const integers = (read: (step: Checkpoint) => number | null) => bigintArray(steps.map(({ step }) => read(step)))
  return [
    integerArray(steps.map(({ number }) => number)),
    texts(({ key }) => key),
    integers(({ position }) => position),
    texts(({ kind }) => kind),
    texts(({ effect }) => effect),
    texts(({ status }) => status),
    integers(({ attempt }) => attempt),
    texts(({ output }) => output),
    integers(({ startedAt }) => startedAt),
    integers(({ finishedAt }) => finishedAt),
    integers(({ apartBytes = null }) => apartBytes),
    texts(({ error }) => (error === null ? null : JSON.stringify(error))),
    texts(({ target }) => target),
    integers(({ dueAt }) => dueAt),
    integers(({ settled = null }) => settled),
    textArray(steps.map(({ codeHash }) => codeHash)),
    booleanArray(steps.map(({ isSettled }) => isSettled)),
  ]
}

function encodeEnds(calls: readonly PlainCall[], numbers: readonly number[]): Buffer[] {
  // A run ends once: of two ends under one lease, the first one counts.
  const first = new Map<number, PlainEnd>()
  for (const [index, call] of calls.entries()) {
    const number = numbers[index] ?? 0
    if ('output' in call && !first.has(number)) first.set(number, call)
  }
  const ends = [...first.values()]
  return [
    integerArray([...first.keys()]),
    textArray(ends.map(({ output }) => output)),
    bigintArray(ends.map(({ now }) => now)),
  ]
}
