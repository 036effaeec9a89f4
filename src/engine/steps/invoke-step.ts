import type { Invocable, InvokeOptions } from '../../author/trigger.ts'
import { describeError, type Failure, StepError, UpshotError } from '../../core/errors.ts'
import { deriveRunId } from '../../core/ids.ts'
import { toJson } from '../../core/json.ts'
import { accountOf } from '../../core/runs/claim.ts'
import type { InvokedRun } from '../../core/runs/run.ts'
import type { Checkpoint, StepName } from '../../core/runs/step.ts'
import { type Invocation, LINK, MAX_CHAIN, MAX_DEPTH, type SavedWithStep } from '../../core/runs/wait.ts'
import { parseDuration } from '../../core/time.ts'
import { readCall } from '../admit/read-cause.ts'
import { describeGivenUp } from '../pass/deadline.ts'
import { packOutput } from '../pass/pack-output.ts'
import { neverSettles } from '../pass/parking.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { holdStep, newStep, readDuringPass, takeStep } from './reach-step.ts'
import { MAX_SENT_BYTES } from './send-step.ts'
import { stubStep } from './stub-step.ts'

export interface InvokeRequest {
  workflow: Invocable
  input: unknown
  options: InvokeOptions
}

/** Runs another workflow as a child of this run, and parks until the child has ended. */
export function invokeStep(pass: Pass, name: StepName, request: InvokeRequest): Promise<unknown> {
  return takeStep(pass, { name, kind: 'invoke', effect: 'write' }, ({ key, known }) =>
    known ? goOn(pass, known) : begin(pass, key, request),
  )
}

/**
 * Creates the child in the commit of the step that waits for it: neither exists without the other.
 */
async function begin(pass: Pass, key: string, request: InvokeRequest): Promise<unknown> {
  const invoke = planInvocation(pass, key, request)
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const first = newStep(pass, { key, kind: 'invoke', effect: 'write' })
  const refusal = findRefusal(pass, request, invoke)
  if (refusal) return fail(pass, first, refusal, {})
  const step = { ...first, target: invoke.run, dueAt: invoke.endsBy }
  if (pass.stub) return stubStep(pass, pass.stub, step, { invoke })
  let isSaved = false
  pass.journal.record(step, undefined, { invoke }).then(
    () => {
      isSaved = true
      pass.publish({ kind: 'run.queued', count: 1 })
    },
    () => {},
  )
  do await park(pass, step)
  while (!isSaved)
  return goOn(pass, step)
}

/** The child's id contains the fence: a step that a person retries starts another child. */
function planInvocation(
  pass: Pass,
  key: string,
  { workflow, input, options }: InvokeRequest,
): Invocation & { endsBy: number | null } {
  const { runId, fence } = pass.run.lease
  const { on } = workflow
  if (typeof on === 'object' && 'kind' in on && on.kind === 'cron') {
    throw new UpshotError('invalid_workflow', `Step "${key}": "${workflow.id}" runs on a schedule and takes no input.`)
  }
  const json = toJson(input, `Step "${key}": the input of "${workflow.id}"`)
  if (Buffer.byteLength(json) > MAX_SENT_BYTES) {
    throw new UpshotError(
      'output_too_large',
      `Step "${key}" gives "${workflow.id}" an input of more than ${MAX_SENT_BYTES} bytes. Pass ids, not content.`,
    )
  }
  const { timeout, parentClosePolicy = 'cancel' } = options
  if (parentClosePolicy !== 'cancel' && parentClosePolicy !== 'abandon') {
    const given = `Step "${key}": parentClosePolicy is "${parentClosePolicy}".`
    throw new UpshotError('invalid_workflow', `${given} Use "cancel" or "abandon".`)
  }
  const run = deriveRunId(runId, key, fence)
  const createdAt = pass.clock.now()
  const endsBy = timeout === undefined ? null : createdAt + parseDuration(timeout, `Step "${key}": timeout`)
  const child = { run, workflow: workflow.id, account: accountOf(pass.run.cause), input: json, createdAt }
  return { ...child, endsBy, outlives: parentClosePolicy === 'abandon' }
}

/** Why the child may not be made: the step fails with it at once. Null where it may. */
function findRefusal({ run, spellings }: Pass, { workflow }: InvokeRequest, child: Invocation): Failure | null {
  if (run.depth + LINK > MAX_DEPTH) {
    const message = `"${workflow.id}" would be more than ${MAX_CHAIN} invocations deep. Use a loop or step.send.`
    return { name: 'UpshotError', code: 'invoke_too_deep', message }
  }
  try {
    readCall({ ...child, runId: child.run }, workflow, { isSelfCaused: false, spellings })
    return null
  } catch (error) {
    return { ...describeError(error), code: 'invalid_request' }
  }
}

async function goOn(pass: Pass, step: Checkpoint): Promise<unknown> {
  if (pass.stub) return stubStep(pass, pass.stub, step)
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const child = await readDuringPass(pass, () => findChild(pass, step))
  const now = pass.clock.now()
  const reason = describeGivenUp(pass.run.lease.runId)
  if (child && child.finishedAt === null && (step.dueAt === null || step.dueAt > now)) {
    await park(pass, step)
    return goOn(pass, step)
  }
  // The child may have noticed that before this run.
  if (child && (child.finishedAt === null || child.reason === reason)) {
    const failure = { name: 'UpshotError', code: 'step_timeout', message: `run ${child.id} did not end in time` }
    return fail(pass, step, failure, { isSettled: true, cancel: { run: child.id, reason, now } })
  }
  if (child?.status !== 'completed') return fail(pass, step, describeEnd(step, child), { isSettled: true })
  return complete(pass, step, child)
}

async function findChild({ store, run }: Pass, { key, target }: Checkpoint): Promise<InvokedRun | null> {
  return (await store.findInvoked(run.lease.runId, key)) ?? (await store.findRun(target ?? ''))
}

async function complete(pass: Pass, step: Checkpoint, child: InvokedRun): Promise<unknown> {
  const { json, packed } = await readDuringPass(pass, async () => {
    const json = child.output ?? (await pass.store.readOutput(child.id, null))
    return { json, packed: await packOutput(pass.store, `Step "${step.key}"`, json) }
  })
  const output = packed ? { apartBytes: packed.bytes } : { output: json }
  const settled = await pass.order.turn(step)
  const finishedAt = pass.clock.now()
  const savedWithStep = { isSettled: true, ...(packed ? { packed: packed.data } : {}) } as const
  void pass.journal.record({ ...step, ...output, status: 'completed', finishedAt, settled }, undefined, savedWithStep)
  return JSON.parse(json)
}

async function fail(pass: Pass, step: Checkpoint, error: Failure, savedWithStep: SavedWithStep): Promise<never> {
  const settled = await pass.order.turn(step)
  const { key, attempt } = step
  const now = pass.clock.now()
  const failure = { key, attempt, at: now, error }
  void pass.journal.record({ ...step, status: 'failed', error, finishedAt: now, settled }, failure, savedWithStep)
  const ms = now - step.startedAt
  pass.publish({
    kind: 'step.failed',
    ...aboutRun(pass),
    step: key,
    effect: 'write',
    attempt,
    ms,
    retryAt: null,
    error,
  })
  throw new StepError(key, attempt, error)
}

function describeEnd(step: Checkpoint, child: InvokedRun | null): Failure {
  if (child?.status === 'failed' && child.error) return child.error
  const end = child ? `was ${child.status}: ${child.reason}` : 'is not in the database any more'
  return { name: 'UpshotError', code: 'step_failed', message: `run ${step.target} ${end}` }
}

function park(pass: Pass, step: Checkpoint): Promise<void> {
  return pass.parking.wait(step, step.dueAt, `waits for run ${step.target} in step "${step.key}"`, 'event')
}
