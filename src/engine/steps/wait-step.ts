import type { EventDefinition } from '../../author/define-event.ts'
import { declaredKeys } from '../../author/event-keys.ts'
import type { HookAnswer } from '../../author/steps/step-options.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import { describeError, UpshotError } from '../../core/errors.ts'
import type { EventRecord, ServiceEvent } from '../../core/incoming/event.ts'
import { HOOK_ANSWERED } from '../../core/incoming/hook.ts'
import { accountOf } from '../../core/runs/claim.ts'
import { planMatch } from '../../core/runs/matching.ts'
import { type Checkpoint, type StepName, stepNameOf } from '../../core/runs/step.ts'
import type { EventWait } from '../../core/runs/wait.ts'
import { type Duration, parseDuration } from '../../core/time.ts'
import { fitEvent } from '../admit/read-cause.ts'
import { packOutput } from '../pass/pack-output.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import type { StepStub } from '../pass/step-stub.ts'
import { RunHook } from './hook-step.ts'
import { awaitSaved, holdStep, newStep, readDuringPass, takeStep } from './reach-step.ts'
import { stubStep } from './stub-step.ts'

/** The result of a wait; null: nothing came in time. */
export type Found = ServiceEvent | HookAnswer | null

export interface WaitRequest {
  on: EventDefinition | string
  where?: Record<string, unknown>
  timeout: Duration
  since?: 'now' | 'run'
  /** The events are the answers of this hook, until it expires. */
  hook?: RunHook
}

/** The request of a wait for an event or a hook. Throws `invalid_workflow` for a misfit. */
export function asRequest(name: StepName, given: object, verb: 'waitFor' | 'receive'): WaitRequest {
  if (!('kind' in given) || given.kind !== 'hook') return given as WaitRequest
  const isFit = given instanceof RunHook && given.many === (verb === 'receive')
  if (isFit) return { on: HOOK_ANSWERED, where: { hook: given.id }, timeout: 0, since: 'run', hook: given }
  const step = typeof name === 'string' ? name : name[0]
  const advice = given instanceof RunHook ? HOOK_VERBS[verb] : 'Pass the hook that `step.hook` returned, no copy.'
  throw new UpshotError('invalid_workflow', `Step "${step}" cannot wait for this hook. ${advice}`)
}

const HOOK_VERBS = {
  waitFor: 'It takes many answers: use step.receive.',
  receive: 'It takes one answer: use step.waitFor, or open it with `many: true`.',
}

export function endOf({ hook, timeout }: WaitRequest, key: string, now: number): number {
  return hook?.expiresAt ?? now + parseDuration(timeout, `Step "${key}": timeout`)
}

/** Parks the run until the event matcher has found an event, or the timeout is over: then null. */
export function waitStep(pass: Pass, name: StepName, request: WaitRequest): Promise<Found> {
  return takeStep(
    pass,
    { name, kind: 'wait', effect: 'read' },
    ({ key, known }) => (known ? goOn(pass, known, request) : begin(pass, key, request)),
    (found, key) => fitFound(pass, key, request, found),
  )
}

async function begin(pass: Pass, key: string, request: WaitRequest): Promise<Found> {
  const now = pass.clock.now()
  const wait = planWait(request, { account: accountOf(pass.run.cause), now })
  const target = describeTarget(request)
  const dueAt = endOf(request, key, now)
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const step: Checkpoint = { ...newStep(pass, { key, kind: 'wait', effect: 'read' }), target, dueAt }
  if (pass.stub) return answerWait(pass, pass.stub, { step, request, wait })
  // Only a stored wait can be matched. A failed write is reported by the barrier of the journal.
  pass.journal.record(step, undefined, { wait }).then(
    () => pass.matcher.startMatching(),
    () => {},
  )
  await park(pass, step)
  return goOn(pass, step, request)
}

async function goOn(pass: Pass, step: Checkpoint, request: WaitRequest): Promise<Found> {
  reportChanged(pass, step, request)
  if (pass.stub) return answerWait(pass, pass.stub, { step, request })
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  return completeWait(pass, step, request, await awaitMatch(pass, step))
}

async function answerWait(
  pass: Pass,
  stub: StepStub,
  { step, request, wait }: { step: Checkpoint; request: WaitRequest; wait?: EventWait },
): Promise<Found> {
  return fitFound(pass, step.key, request, await stubStep(pass, stub, step, wait && { wait }))
}

/** Records the event, or null, and gives it to the code. */
export async function completeWait(
  pass: Pass,
  step: Checkpoint,
  request: Pick<WaitRequest, 'on' | 'hook'>,
  found: EventRecord | null,
): Promise<Found> {
  if (found?.body === '')
    return pass.parking.halt(`the body of event ${found.id}, which step "${step.key}" found, is pruned`)
  const body = found ? found.body : 'null'
  const packed = await readDuringPass(pass, async () => packOutput(pass.store, `The event of step "${step.key}"`, body))
  const output = packed ? { apartBytes: packed.bytes } : { output: body }
  const settled = await pass.order.turn(step)
  const finishedAt = pass.clock.now()
  const savedWithStep = { isSettled: true, ...(packed ? { packed: packed.data } : {}) } as const
  void pass.journal.record({ ...step, ...output, status: 'completed', finishedAt, settled }, undefined, savedWithStep)
  return fitFound(pass, step.key, request, JSON.parse(body))
}

/** Parks until there is an event, or the timeout is over: then null. */
export async function awaitMatch(pass: Pass, step: Checkpoint): Promise<EventRecord | null> {
  for (;;) {
    const found = await readDuringPass(pass, () => findInTime(pass, step))
    if (found !== 'open') return found
    await park(pass, step)
  }
}

/** An event received before the timeout counts, even if it is matched only now. Null: none came. */
async function findInTime(pass: Pass, { key, dueAt }: Checkpoint): Promise<EventRecord | null | 'open'> {
  const { runId } = pass.run.lease
  const until = dueAt ?? Infinity
  let event = await pass.store.findMatch(runId, key)
  if (!event && until > pass.clock.now()) return 'open'
  if (!event) {
    await pass.matcher.catchUp()
    event = await pass.store.findMatch(runId, key)
  }
  return event && (event.receivedAt <= until || pass.clock.now() < until) ? event : null
}

function park(pass: Pass, step: Checkpoint): Promise<void> {
  return pass.parking.wait(step, step.dueAt, `waits for ${step.target} in step "${step.key}"`, 'event')
}

/**
 * Parses the found event's data. Where it does not fit the definition, the run waits for a person.
 */
export function fitFound(
  pass: Pass,
  key: string,
  { on, hook }: Pick<WaitRequest, 'on' | 'hook'>,
  found: unknown,
): Promise<Found> {
  if (found === null) return Promise.resolve(null)
  try {
    if (hook) return Promise.resolve(hook.read(found as ServiceEvent))
    const fit = () => fitEvent(found as ServiceEvent, typeof on === 'string' ? undefined : on)
    return Promise.resolve(withStorageNames(pass.spellings, fit))
  } catch (error) {
    return pass.parking.halt(`step "${key}": ${describeError(error).message}`)
  }
}

/**
 * The stored form of a wait or a `cancelOn` rule. Throws `invalid_workflow` for a key that no event
 * definition declares.
 */
export function planWait(
  { on, where, since = 'now', hook }: Pick<WaitRequest, 'on' | 'where' | 'since' | 'hook'>,
  { account, now }: { account: string; now: number },
): EventWait {
  const type = typeof on === 'string' ? on : on.type
  const { name, value } = planMatch(where)
  if (hook) return { account, type, name, value, version: '', since, at: now, hook: hook.id }
  const version = declaredKeys.version(type, name)
  if (version !== null) return { account, type, name, value, version, since, at: now }
  throw new UpshotError(
    'invalid_workflow',
    `No key "${name}" is declared for ${type}. Declare it in \`keys\` of a defineEvent at the top level of a module.`,
  )
}

export function describeTarget({ on, where = {}, hook }: Pick<WaitRequest, 'on' | 'where' | 'hook'>): string {
  if (hook) return hook.target
  const type = typeof on === 'string' ? on : on.type
  const values = Object.entries(where).map(([name, value]) => `${name} ${String(value).slice(0, 100)}`)
  return values.length === 0 ? type : `${type} with ${values.join(' and ')}`
}

/** Tells of code that asks for something else than its open wait, once for each name. */
export function reportChanged(
  pass: Pass,
  { key, target }: Checkpoint,
  request: Pick<WaitRequest, 'on' | 'where' | 'hook'>,
): void {
  const asked = describeTarget(request)
  const name = stepNameOf(key)
  // A preview tells it of every run.
  if (target === asked || !(pass.stub || pass.places.noteChange(name))) return
  const { lease, workflow } = pass.run
  const place = pass.places.find(name)
  pass.publish({ kind: 'wait.changed', run: lease.runId, workflow, step: key, target, asked, place })
}

/**
 * Parks the run until the moment that `wakeAt` gives; it is asked once, with the step's name for
 * its errors. Where the moment has passed, the step only waits until all before it is on disk.
 */
export function sleepStep(pass: Pass, name: StepName, wakeAt: (what: string) => number): Promise<void> {
  return takeStep(pass, { name, kind: 'sleep', effect: 'read' }, async ({ key, known }) => {
    const dueAt = known ? (known.dueAt ?? pass.clock.now()) : wakeAt(`Step "${key}"`)
    const held = holdStep(pass)
    if (held && !(await held)) return neverSettles()
    const step = known ?? { ...newStep(pass, { key, kind: 'sleep', effect: 'read' }), dueAt }
    if (pass.stub) return void (await stubStep(pass, pass.stub, step))
    if (dueAt > pass.clock.now()) {
      if (!known) void pass.journal.record(step)
      await pass.parking.wait(step, dueAt, `sleeps in step "${key}"`)
    } else await awaitSaved(pass)
    const settled = await pass.order.turn(step)
    void pass.journal.record({ ...step, status: 'completed', finishedAt: pass.clock.now(), settled })
  })
}
