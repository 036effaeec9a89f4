import type { EventRecord, ServiceEvent } from '../../core/incoming/event.ts'
import { accountOf } from '../../core/runs/claim.ts'
import { planMatch } from '../../core/runs/matching.ts'
import type { Checkpoint, StepName } from '../../core/runs/step.ts'
import type { EventWait } from '../../core/runs/wait.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import type { StepStub } from '../pass/step-stub.ts'
import { holdStep, newStep, readDuringPass, takeStep } from './reach-step.ts'
import { stubStep } from './stub-step.ts'
import {
  awaitMatch,
  completeWait,
  describeTarget,
  endOf,
  type Found,
  fitFound,
  planWait,
  reportChanged,
  type WaitRequest,
} from './wait-step.ts'

type ReceiveRequest = Omit<WaitRequest, 'since'>

/** The events of all calls of a run that ask for the same. */
interface Stream {
  /** Ids of events, in order. */
  taken: Set<string>
  /** Adds those of finished calls that the code has not reached. */
  addsUnreached?: Promise<void> | null
}

/** By what the calls ask for. */
export type Streams = Map<string, Stream>

/** Newest events of a stream that a wait names: parallel calls may have taken them in any order. */
const NAMED = 100
/** The same in a run that continues this one, which begins without calls at work. */
const INHERITED = 20

interface Receiver {
  pass: Pass
  request: ReceiveRequest
  /** Throws for a `where` that is not valid, which fails the step. */
  stream: () => Stream
}

/**
 * Takes the next matching event that this run has not had, in the order of storing. Parks until
 * there is one, or the timeout is over: then null.
 */
export function receiveStep(pass: Pass, streams: Streams, name: StepName, request: ReceiveRequest): Promise<Found> {
  const receiver: Receiver = { pass, request, stream: () => findStream(streams, request) }
  return takeStep(
    pass,
    { name, kind: 'receive', effect: 'read' },
    ({ key, known }) => (known ? goOn(receiver, known) : begin(receiver, key)),
    (found, key) => {
      if (found !== null) receiver.stream().taken.add((found as ServiceEvent).id)
      return fitFound(pass, key, request, found)
    },
  )
}

/** The streams of a new pass; `received`: by the runs that this one continues. */
export function openStreams(received: Record<string, readonly string[]> = {}): Streams {
  return new Map(Object.entries(received).map(([key, ids]) => [key, { taken: new Set(ids) }]))
}

/** The events from which a run that continues this one goes on. */
export function listReceived(streams: Streams): Record<string, string[]> {
  return Object.fromEntries([...streams].map(([key, { taken }]) => [key, [...taken].slice(-INHERITED)]))
}

function findStream(streams: Streams, { on, where }: ReceiveRequest): Stream {
  const { name, value } = planMatch(where)
  const key = JSON.stringify([typeof on === 'string' ? on : on.type, name, value])
  const stream = streams.get(key) ?? { taken: new Set() }
  streams.set(key, stream)
  return stream
}

async function begin(receiver: Receiver, key: string): Promise<Found> {
  const { pass, request } = receiver
  planNext(receiver)
  const dueAt = endOf(request, key, pass.clock.now())
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const adding = addUnreached(receiver)
  if (adding) await adding
  const step: Checkpoint = {
    ...newStep(pass, { key, kind: 'receive', effect: 'read' }),
    target: describeTarget(request),
    dueAt,
  }
  await open(receiver, step)
  return goOn(receiver, step)
}

async function answerReceive(receiver: Receiver, stub: StepStub, step: Checkpoint): Promise<Found> {
  const { pass, request } = receiver
  const found = await stubStep(pass, stub, step, { wait: planNext(receiver) })
  if (found !== null) receiver.stream().taken.add((found as ServiceEvent).id)
  return fitFound(pass, step.key, request, found)
}

/** A wait for what was stored after the events that the run has had. */
function planNext({ pass, request, stream }: Receiver): EventWait {
  const wait = planWait(request, { account: accountOf(pass.run.cause), now: pass.clock.now() })
  const had = [...stream().taken]
  return { ...wait, since: { after: had.slice(-NAMED) } }
}

/**
 * Counts the events of finished calls that the code has not reached. A run that goes on by name may
 * reach them later. Null where there are none.
 */
function addUnreached({ pass, request, stream }: Receiver): Promise<void> | null {
  const found = stream()
  if (found.addsUnreached === undefined) {
    const target = describeTarget(request)
    const steps = [...pass.journal.unreached].filter(
      (step) => step.kind === 'receive' && step.status === 'completed' && step.target === target,
    )
    const add = async (step: Checkpoint) => {
      const output = step.output ?? (await pass.store.readOutput(pass.run.lease.runId, step.key))
      const event: ServiceEvent | null = JSON.parse(output)
      if (event !== null) found.taken.add(event.id)
    }
    found.addsUnreached =
      steps.length === 0 ? null : readDuringPass(pass, async () => void (await Promise.all(steps.map(add))))
  }
  return found.addsUnreached
}

/** Saves the wait. An event that is matched already is found before the pass parks. */
function open(receiver: Receiver, step: Checkpoint, isAgain = false): Promise<void> {
  const { pass } = receiver
  const wait = planNext(receiver)
  const saved = pass.journal.record(step, undefined, { ...(isAgain && { isSettled: true }), wait }).then(
    () => pass.matcher.startMatching(),
    // The barrier of the journal reports it.
    () => {},
  )
  return readDuringPass(pass, () => saved)
}

async function goOn(receiver: Receiver, step: Checkpoint): Promise<Found> {
  const { pass, request } = receiver
  reportChanged(pass, step, request)
  if (pass.stub) return answerReceive(receiver, pass.stub, step)
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const adding = addUnreached(receiver)
  if (adding) await adding
  for (;;) {
    const found: EventRecord | null = await awaitMatch(pass, step)
    const { taken } = receiver.stream()
    if (found === null || !taken.has(found.id)) {
      if (found !== null) taken.add(found.id)
      return completeWait(pass, step, request, found)
    }
    // A call beside this one has taken it: this one waits for the next.
    await open(receiver, step, true)
  }
}
