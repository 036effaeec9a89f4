import type { RunContext } from '../../author/context.ts'
import { listCancelRules } from '../../author/read-workflow.ts'
import type { AnyCancelRule, AnyWorkflow } from '../../author/workflow.ts'
import { describeError, type Failure, StepError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import { accountOf } from '../../core/runs/claim.ts'
import { decideRetry, planRetries } from '../../core/runs/retry.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { decideMismatch } from '../../core/runs/step.ts'
import type { EventWait } from '../../core/runs/wait.ts'
import { silence } from '../../core/thenable.ts'
import type { Cause } from '../admit/read-cause.ts'
import { describeExpired, limitWait, watchDeadline } from '../pass/deadline.ts'
import { packOutput } from '../pass/pack-output.ts'
import type { CodeEnd } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { runInPass } from '../pass/scope.ts'
import type { Park } from '../pass/wait.ts'
import { planWait } from '../steps/wait-step.ts'
import type { FilesFor } from '../worker-parts.ts'
import { createRunContext } from './run-context.ts'
import { asLost } from './settle-run.ts'
import { type ReplayWatch, watchReplay } from './watch-replay.ts'

type Ending = CodeEnd | Park

interface Execution {
  workflow: AnyWorkflow
  cause: Cause
  filesFor: FilesFor
}

/**
 * Executes one pass of an admitted run: replays finished steps and goes on until it ends or has to
 * wait. Never throws an author's error.
 */
export async function executeRun(pass: Pass, { workflow, cause, filesFor }: Execution): Promise<RunOutcome> {
  const refusal = await watchCancels(pass, workflow, cause).catch(asLost)
  if (refusal) return refusal
  const context = createRunContext(pass, cause, filesFor)
  const call = chooseHandler(pass, workflow)
  if (!call) return { kind: 'parked', dueAt: null, reason: `the workflow "${workflow.id}" has no onFailure any more` }
  const endWatch = watchDeadline(pass)
  const replayWatch = watchReplay(pass)
  const called = runInPass(pass, () => callAuthor(() => call(context as never)))
  void called.then(async (end) => {
    pass.order.noteMove()
    pass.parking.stop(await awaitReplay(pass, end, replayWatch))
  })
  const ending = await pass.parking.stopped
  replayWatch.stop()
  return endWith(pass, ending, endWatch)
}

/**
 * Executes one more pass with the code of an earlier one, which waits in memory. See decision 65.
 */
export async function goOnWithRun(pass: Pass, { workflow, cause }: Execution): Promise<RunOutcome> {
  const refusal = await watchCancels(pass, workflow, cause).catch(asLost)
  if (refusal) return refusal
  const endWatch = watchDeadline(pass)
  pass.parking.goOn()
  return endWith(pass, await pass.parking.stopped, endWatch)
}

async function endWith(pass: Pass, ending: Ending, endWatch: () => void): Promise<RunOutcome> {
  const joined = await joinSteps(pass, ending)
  endWatch()
  // The store takes writes in their order, and the outcome comes last.
  await pass.progress.end(joined.kind === 'returned')
  const tagging = pass.journal.saveTags()
  if (tagging) await tagging
  const sending = pass.journal.sent()
  if (sending) await sending
  return limitWait(gatherWakeUps(pass, await decideOutcome(pass, joined)), pass.deadline)
}

/** The function that this run calls: `run`, or `onFailure` with the failure that it handles. */
function chooseHandler({ run }: Pass, workflow: AnyWorkflow): ((context: never) => unknown) | undefined {
  const { onFailure } = workflow
  if (run.handler === 'run') return workflow.run
  const failure = { error: run.failure, failed: { id: run.originRun } }
  return onFailure && ((context: RunContext) => onFailure({ ...context, ...failure } as never))
}

async function callAuthor(call: () => unknown): Promise<CodeEnd> {
  try {
    return { kind: 'returned', output: await call() }
  } catch (error) {
    return { kind: 'threw', error }
  }
}

/** Code that has returned may still have branches, which reach the rest of the journal. */
function awaitReplay({ order, journal }: Pass, end: CodeEnd, watch: ReplayWatch): CodeEnd | Promise<CodeEnd> {
  if (end.kind !== 'returned' || !order.isReplaying || journal.hasReachedOutcomes) return end
  watch.noteReturn()
  return order.over().then(() => end)
}

/**
 * Awaits the steps that are at work when the code has ended, each up to its timeout. Those of code
 * that has failed or timed out get their signal. Only then may the run end, and what comes later is
 * dropped. See decision 34.
 */
async function joinSteps({ parking, order, journal, abort }: Pass, ending: Ending): Promise<Ending> {
  if (!isEndOfCode(ending)) return ending
  parking.endCode()
  order.end()
  if (parking.isBusy && 'error' in ending) abort.abort(ending.error)
  const park = parking.isBusy || parking.hasEnded ? await Promise.race([parking.ended, parking.idle()]) : undefined
  order.close()
  journal.close()
  return park ?? ending
}

function isEndOfCode(ending: Ending): ending is CodeEnd {
  return ['returned', 'threw', 'overdue', 'continued'].includes(ending.kind)
}

function decideOutcome(pass: Pass, ending: Ending): RunOutcome | Promise<RunOutcome> {
  switch (ending.kind) {
    case 'returned':
      return decideMisfit(pass) ?? complete(pass, ending.output)
    case 'continued':
      return decideMisfit(pass) ?? ending
    case 'threw': {
      const outcome = decideFailure(pass, ending.error)
      return outcome.kind === 'failed' ? (decideMisfit(pass) ?? outcome) : outcome
    }
    case 'overdue':
      return pass.run.endsBy !== undefined && pass.run.endsBy === pass.deadline
        ? describeExpired(pass.run)
        : { kind: 'failed', error: describeError(ending.error) }
    case 'broken':
      throw ending.error
    case 'parked':
    case 'released':
    case 'lost':
      return ending
    default:
      return ending satisfies never
  }
}

/**
 * If code returns without reaching steps that earlier passes finished, its run waits for a person.
 */
function decideMisfit({ journal, isCodeChanged }: Pass): RunOutcome | null {
  const reason = decideMismatch({ at: 'end', unreached: journal.unreached }, isCodeChanged)
  return reason === null ? null : { kind: 'parked', dueAt: null, reason }
}

async function complete(pass: Pass, value: unknown): Promise<RunOutcome> {
  try {
    const json = toJson(value, 'The result of the run')
    return { kind: 'completed', output: (await packOutput(pass.store, 'The run', json)) ?? json }
  } catch (error) {
    return { kind: 'failed', error: describeError(error) }
  }
}

/** Names the step where its failure has ended the run. */
function describeFailure(error: unknown): Failure {
  const described = describeError(error)
  try {
    return error instanceof StepError ? { ...error.failure, message: described.message, step: error.step } : described
  } catch {
    return described
  }
}

function decideFailure(pass: Pass, error: unknown): RunOutcome {
  const failure = describeFailure(error)
  const decision = decideRetry({
    error,
    attempt: pass.run.attempt + 1,
    policy: planRetries(pass.retry),
    now: pass.clock.now(),
    random: pass.random(),
  })
  if (decision.kind === 'give_up') return { kind: 'failed', error: failure }
  if (decision.counts) return { kind: 'retry', dueAt: decision.at, error: failure }
  return { kind: 'parked', dueAt: decision.at, reason: failure.message }
}

/** Default of `gatherMs`. */
const GATHER_MS = 100
/** Steps that a run awaits at a time before its wake-ups are gathered: fewer cost few passes. */
const MANY = 16

/**
 * Lets a run with many open steps sleep a moment after a pass that brought it further. The next
 * pass takes all that has ended by then.
 */
function gatherWakeUps(
  { run, journal, clock, gatherMs = GATHER_MS }: Pick<Pass, 'run' | 'journal' | 'clock' | 'gatherMs'>,
  outcome: RunOutcome,
): RunOutcome {
  if (outcome.kind !== 'parked' || gatherMs === 0 || run.isFirstPass || !journal.hasRecorded) return outcome
  const { awaits = [], dueAt, reason } = outcome
  if (awaits.length <= MANY) return outcome
  return { kind: 'parked', dueAt: Math.min(dueAt ?? Infinity, clock.now() + gatherMs), reason }
}

/**
 * Registers the run's `cancelOn` rules before its code begins; a result ends the pass instead.
 * Every pass does, because a run that a person retried or resumed has lost its waits.
 */
async function watchCancels(pass: Pass, workflow: AnyWorkflow, cause: Cause): Promise<RunOutcome | null> {
  const rules = listCancelRules(workflow)
  if (rules.length === 0) return null
  let waits: EventWait[]
  try {
    waits = rules.flatMap((rule) => planCancel(pass, rule, cause) ?? [])
  } catch (error) {
    return {
      kind: 'parked',
      dueAt: null,
      reason: `its \`cancelOn\` failed: ${describeError(error).message}`,
    }
  }
  if (waits.length === 0) return null
  const isOurs = await pass.store.watchRun(pass.run.lease, waits, pass.clock.now())
  // An event that is stored already cancels the run before its code does anything.
  if (isOurs) await pass.matcher.catchUp()
  return isOurs && !pass.abort.signal.aborted ? null : { kind: 'lost' }
}

/** Null where the cause lacks one of the values: then no event can match. */
function planCancel(pass: Pass, { on, where = {} }: AnyCancelRule, { account: _, ...cause }: Cause): EventWait | null {
  const [value] = Object.values(cause)
  const values = Object.entries(where).map(([name, compute]) => [name, silence(compute(value as never))] as const)
  if (values.some(([, each]) => each === null || each === undefined)) return null
  const account = accountOf(pass.run.cause)
  return planWait({ on, where: Object.fromEntries(values), since: 'run' }, { account, now: pass.clock.now() })
}
