import { newId } from '../../../core/ids.ts'
import type { ClaimedRun } from '../../../core/runs/claim.ts'
import type { Lease } from '../../../core/runs/lease.ts'
import type { Checkpoint, StepFailure } from '../../../core/runs/step.ts'
import type { Invocation, SavedWithStep, SentEvent } from '../../../core/runs/wait.ts'
import { JoinedTable } from '../../connection.ts'
import type { ClaimReader, ClaimRow } from '../../tables/runs/claim-reader.ts'
import type { Park } from '../../tables/runs/run-table.ts'
import { endOf, isInLedger, readEnd, type StepFacts } from '../../tables/safety/effect-table.ts'
import type { Call } from '../database/calls/call.ts'
import { asJson, bigints, booleans, type Column, integers, texts } from '../database/calls/column.ts'
import type { Connection } from '../database/connection.ts'
import { hashBody, identify, streamOf } from '../incoming/event-table.ts'

/** A step, with the event or run that it makes. */
interface PlainStep {
  lease: Lease
  step: Checkpoint
  codeHash: string | null
  isSettled: boolean
  send: SentEvent | undefined
  invoke: Invocation | undefined
  /** Facts of a write that the ledger tells of; null: none. */
  ledger: StepFacts | null
}

/** A pass ends before its run does. */
interface PlainPark {
  lease: Lease
  park: Park
  /** By which a park whose answer was lost is found again. */
  call: number
}

/** The end of a run with a small output. */
interface PlainEnd {
  lease: Lease
  output: string
  now: number
  /** By which the next run is claimed, and found where the answer was lost; null: none is. */
  claim: number | null
}

export type PlainCall = PlainStep | PlainPark | PlainEnd

/** `woke`: done, and another run goes on. `more`: it has further effects, and is not written. */
type JournalVerdict = 'held' | 'done' | 'woke' | 'more' | 'stale'

export interface JournalAnswer {
  verdict: JournalVerdict
  /** The run that is claimed in the place of one that has ended. */
  next?: ClaimedRun | undefined
}

type AnswerRow = { number: number; verdict: JournalVerdict }
type HandedOnRow = AnswerRow & (ClaimRow | { id: null })

/** The step where nothing else is in its commit; null for any other. */
export function asPlainStep(
  lease: Lease,
  step: Checkpoint,
  failure?: StepFailure,
  saved?: SavedWithStep,
): PlainStep | null {
  const { codeHash = null, isSettled = false, send, invoke, effect = NO_FACTS, ...rest } = saved ?? {}
  if (failure !== undefined || Object.keys(rest).length > 0) return null
  const ledger = isInLedger(step, saved) ? effect : null
  if (ledger !== null && step.effect === 'delete') return null
  return { lease, step, codeHash, isSettled, send, invoke, ledger }
}

const NO_FACTS: StepFacts = { input: null }

const SAVE = `save_journal_1(${Array(29).fill('?')})`

/** Saves many steps, and parks and completes many runs, in one call. */
export class JournalSaves extends JoinedTable<{ reader: ClaimReader }, Connection> {
  readonly #save: Call<AnswerRow> = this.db.prepareCall(`SELECT number, verdict FROM ${SAVE}`)
  readonly #saveAndClaim: Call<HandedOnRow> = this.db.prepareCall(
    `SELECT number, verdict, (next).*, era_1() AS era FROM ${SAVE}`,
  )

  async save(calls: readonly PlainCall[]): Promise<JournalAnswer[]> {
    const leases = new Map<string, { lease: Lease; number: number }>()
    const numbers = calls.map(({ lease }) => {
      const name = `${lease.runId} ${lease.fence} ${lease.era ?? ''}`
      const known = leases.get(name) ?? { lease, number: leases.size + 1 }
      leases.set(name, known)
      return known.number
    })
    const distinct = [...leases.values()]
    const ends = listEnds(calls, numbers)
    const parameters = [
      texts(distinct, ({ lease }) => lease.runId),
      bigints(distinct, ({ lease }) => lease.fence),
      texts(distinct, ({ lease }) => lease.era ?? null),
      ...stepColumns(calls, numbers),
      integers(ends, ({ number }) => number),
      texts(ends, ({ output }) => output),
      bigints(ends, ({ now }) => now),
      asJson(listSent(calls, numbers)),
      asJson(listInvoked(calls, numbers)),
      asJson(listWrites(calls, numbers)),
      asJson(listParked(calls, numbers)),
      texts(ends, ({ lease }) => lease.worker),
      bigints(ends, ({ claim }) => claim),
    ]
    const claims = ends.some(({ claim }) => claim !== null)
    const answers = claims
      ? await this.#handOn(await this.#saveAndClaim.all(...parameters), ends)
      : await this.#save.all(...parameters)
    const verdicts = new Map(answers.map(({ number, ...answer }) => [number, answer]))
    return numbers.map((number) => verdicts.get(number) ?? { verdict: 'stale' })
  }

  async #handOn(rows: readonly HandedOnRow[], ends: readonly NumberedEnd[]) {
    const claimed = rows.filter((row) => row.id !== null)
    const runs = await this.parts.reader.read(claimed, ({ number }) => {
      const end = ends.find((each) => each.number === number)
      return { worker: end?.lease.worker ?? '', now: end?.now ?? 0 }
    })
    const next = new Map(claimed.map(({ number }, index) => [number, runs[index]]))
    const answers = rows.filter((row) => row.id === null)
    return answers.map(({ number, verdict }) => ({ number, verdict, next: next.get(number) }))
  }
}

type NumberedEnd = PlainEnd & { number: number }

/** A run ends once: of two ends under one lease, the first one counts. */
function listEnds(calls: readonly PlainCall[], numbers: readonly number[]): NumberedEnd[] {
  const first = new Map<number, NumberedEnd>()
  for (const [index, call] of calls.entries()) {
    const number = numbers[index] ?? 0
    if ('output' in call && !first.has(number)) first.set(number, { ...call, number })
  }
  return [...first.values()]
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

/** The runs of an event are made once, whichever ids come with it again. */
function listSent(calls: readonly PlainCall[], leases: readonly number[]): object[] {
  const counts = new Map<number, number>()
  return calls.flatMap((call, index) => {
    if (!('send' in call) || call.send === undefined) return []
    const { id, type, account, createdAt, body, workflows, depth = 0 } = call.send
    const stream = streamOf(account)
    const number = (counts.get(stream) ?? 0) + 1
    counts.set(stream, number)
    const runs = workflows.map((workflow) => ({ id: newId('run', createdAt), workflow }))
    const hashes = { identity: identify(account, id), hash: hashBody(body) }
    return { lease: leases[index], stream, number, ...hashes, id, type, account, created: createdAt, body, runs, depth }
  })
}

function listInvoked(calls: readonly PlainCall[], leases: readonly number[]): object[] {
  return calls.flatMap((call, index) => {
    if (!('invoke' in call) || call.invoke === undefined) return []
    const { run, workflow, account, input, createdAt: created, endsBy: ends = null, outlives = false } = call.invoke
    const child = { run, workflow, account, input, created, ends, outlives: Number(outlives) }
    const { key: step } = call.step
    return { lease: leases[index], parent: call.lease.runId, step, ...child }
  })
}

function listWrites(calls: readonly PlainCall[], leases: readonly number[]): object[] {
  return calls.flatMap((call, index) => {
    if (!('ledger' in call) || call.ledger === null) return []
    const { lease, step, ledger } = call
    const { key, target } = step
    const { endedAt: at, operation, error } = endOf(step)
    const hasRow = target !== null || ledger.isUntargeted === true
    const row = { run: lease.runId, step: key, target, input: ledger.input, hasRow }
    return { lease: leases[index], at, operation, error, ...readEnd(step), ...row }
  })
}

function listParked(calls: readonly PlainCall[], leases: readonly number[]): object[] {
  return calls.flatMap((call, index) => {
    if (!('park' in call)) return []
    const { dueAt: due, reason, awaits = [], hasNotStarted: unstarted = false } = call.park
    return { lease: leases[index], call: call.call, due, reason, awaits, unstarted }
  })
}
