import { createHash } from 'node:crypto'
import { checkCall, checkCalls, FILES, STEPS } from '../../author/check-calls.ts'
import type { RunContext, RunLog } from '../../author/context.ts'
import type { StepApi } from '../../author/steps/step-api.ts'
import type { ScheduleRequest } from '../../author/steps/step-options.ts'
import type { Invocable } from '../../author/trigger.ts'
import { describeError, isA, UpshotError } from '../../core/errors.ts'
import { formatUuid } from '../../core/ids.ts'
import { findProgressFault, MAX_NOTE_LENGTH } from '../../core/runs/annotations/progress.ts'
import { findTagFault, MAX_TAGS, type TagValue } from '../../core/runs/annotations/tags.ts'
import type { StepName } from '../../core/runs/step.ts'
import type { FileBefore } from '../../core/safety/effect.ts'
import type { CallAttempt, DeletePermit, FileCall, FilesApi, WrapCall } from '../../core/service/files-api.ts'
import { silence } from '../../core/thenable.ts'
import { parseDuration, parseMoment } from '../../core/time.ts'
import type { Cause } from '../admit/read-cause.ts'
import { findCallSite } from '../pass/find-call-site.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { currentStep, runOutside } from '../pass/scope.ts'
import { type ApproveRequest, approveStep } from '../steps/approve-step.ts'
import { prepareDelete } from '../steps/guard/ask-guard.ts'
import { nameStorages } from '../steps/guard/name-storages.ts'
import { hookStep } from '../steps/hook-step.ts'
import { type InvokeRequest, invokeStep } from '../steps/invoke-step.ts'
import { mapSteps } from '../steps/map-steps.ts'
import { type Patches, patchedStep } from '../steps/patched-step.ts'
import { openStreams, receiveStep, type Streams } from '../steps/receive-step.ts'
import { runStep } from '../steps/run-step.ts'
import { scheduleStep, unscheduleStep } from '../steps/schedule-step.ts'
import { sendStep } from '../steps/send-step.ts'
import { asRequest, sleepStep, waitStep } from '../steps/wait-step.ts'
import type { FilesFor } from '../worker-parts.ts'
import { continueRun } from './continue-run.ts'

export function createRunContext(pass: Pass, { account, ...cause }: Cause, filesFor: FilesFor): RunContext {
  const { runId } = pass.run.lease
  const chance = rememberedChance(pass)
  const stepOfCall: WrapCall = (call, perform) => fileStep(pass, call, perform)
  let files: FilesApi | undefined
  return {
    ...cause,
    account,
    run: { id: runId, workflow: pass.run.workflow },
    step: createStepApi(pass),
    // Made at its first use, as the signal is: most runs need neither, and many are at work.
    get files() {
      files ??= checkCalls('files', FILES, nameStorages(filesFor(account, stepOfCall), pass.spellings), refuse)
      return files
    },
    log: createRunLog(pass),
    progress: (done: number, total: number, note?: string) => reportProgress(pass, done, total, note),
    tag: (name: string, value: TagValue) => tagRun(pass, name, value),
    get signal() {
      return pass.abort.signal
    },
    now: () => {
      const step = currentStep(pass)
      if (step) return step.now
      pass.order.noteMove()
      return pass.journal.now
    },
    random: () => chance().readUInt32BE() / 2 ** 32,
    uuid: () => formatUuid(chance()),
  } as RunContext
}

/** A call of the Files API as a step. A delete gets the permit that lets it begin. */
const fileStep = <T>(
  pass: Pass,
  { operation, effect, target, keep, limits, facts }: FileCall,
  perform: (attempt: CallAttempt) => Promise<T>,
): Promise<T> => {
  let permit: DeletePermit | undefined
  let before: FileBefore | null = null
  const onSeen = (seen: FileBefore) => {
    before = seen
  }
  const onGranted = (granted: DeletePermit) => {
    permit = { ...granted, onSeen }
  }
  const prepared = (key: string): DeletePermit | undefined => {
    if (permit === undefined) return undefined
    return { ...permit, beforeSend: () => prepareDelete(pass, { key, target, before }) }
  }
  const options = {
    effect,
    target,
    keep,
    ...limits,
    ...(facts && { facts: { ...facts, onGranted, before: () => before } }),
  }
  const deleting = runStep(
    pass,
    [`files.${operation}`, target],
    ({ signal, attempt }, step) =>
      runOutside(() => perform({ signal, caller: { ...aboutRun(pass), step, attempt }, permit: prepared(step) })),
    options,
  )
  const list = facts?.list
  if (list !== undefined) {
    const parts = pass.progress.countOf(list, 'files.deleteAll', list.files)
    deleting.then(parts.done, parts.failed)
  }
  return deleting
}

/** Every run at work has one, so its verbs share one check, and make what they need when called. */
function createStepApi(pass: Pass): StepApi {
  let patches: Patches | undefined
  let opened: Streams | undefined
  const streams = () => (opened ??= openStreams(pass.run.received))
  const check = (verb: keyof typeof STEPS, ...given: unknown[]) => checkCall('step', STEPS, verb, given, refuse)
  return {
    // The types say what JSON makes of the results; the engine only knows that they are JSON.
    run: (name, fn, options) => {
      check('run', name, fn, options)
      return runStep(pass, name, (context) => fn(context), options) as Promise<never>
    },
    map: (name, items, keyOf, fn, options = {}) => {
      check('map', name, items, keyOf, fn, options)
      return silence(mapSteps(pass, name, { items, keyOf, fn, options })) as Promise<never[]>
    },
    sleep: (name, duration) => {
      check('sleep', name, duration)
      return sleepStep(pass, name, (what) => pass.clock.now() + parseDuration(duration, what))
    },
    sleepUntil: (name, moment) => {
      check('sleepUntil', name, moment)
      return sleepStep(pass, name, (what) => parseMoment(moment, what))
    },
    // The types of the results are those of the definitions given.
    waitFor: (name: StepName, given: object) => {
      check('waitFor', name, given)
      return called(() => waitStep(pass, name, asRequest(name, given, 'waitFor'))) as Promise<never>
    },
    receive: (name: StepName, given: object) => {
      check('receive', name, given)
      return called(() => receiveStep(pass, streams(), name, asRequest(name, given, 'receive'))) as Promise<never>
    },
    hook: (name, request) => {
      check('hook', name, request)
      return hookStep(pass, name, request) as Promise<never>
    },
    send: (name, on, data, options) => {
      check('send', name, on, data, options)
      return sendStep(pass, name, { on, data, ...options })
    },
    schedule: (name, request) => {
      check('schedule', name, request)
      return called(() => scheduleStep(pass, name, request as ScheduleRequest))
    },
    unschedule: (name) => {
      check('unschedule', name)
      return called(() => unscheduleStep(pass, name))
    },
    invoke: (name: StepName, workflow: Invocable, input?: unknown, options: InvokeRequest['options'] = {}) => {
      check('invoke', name, workflow, input, options)
      return invokeStep(pass, name, { workflow, input, options }) as Promise<never>
    },
    approve: (name: StepName, request: ApproveRequest) => {
      check('approve', name, request)
      return approveStep(pass, name, request) as Promise<never>
    },
    continueAs: (input?: unknown) => {
      check('continueAs', input)
      return silence(continueRun(pass, streams(), input))
    },
    patched: (id) => {
      check('patched', id)
      patches ??= new Map()
      return patchedStep(pass, patches, id)
    },
  }
}

/** A call that throws gives a promise that rejects. */
function called<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call()
  } catch (error) {
    return silence(Promise.reject(error))
  }
}

function createRunLog(pass: Pass): RunLog {
  const about = aboutRun(pass)
  const write = (level: 'info' | 'warn' | 'error', message: string, facts: Record<string, unknown> = {}) => {
    if (pass.order.isReplaying || pass.journal.isContinued) return
    if (pass.parking.isClosed) pass.order.noteMove()
    // JavaScript may pass an error for either of them.
    const text = typeof message === 'string' ? message : describeError(message).message
    const fields = isA(facts, Error) ? { err: describeError(facts) } : facts
    pass.publish({ kind: 'run.log', ...about, level, message: text, facts: fields })
  }
  return {
    info: (message, facts) => write('info', message, facts),
    warn: (message, facts) => write('warn', message, facts),
    error: (message, facts) => write('error', message, facts),
  }
}

/**
 * Randomness that replays: a draw is a hash of the run's id and its count. Inside a step's function
 * it is one of the step, its attempt and their own count. See decision 10.
 */
function rememberedChance(pass: Pass): () => Buffer {
  const { runId } = pass.run.lease
  let draws = 0
  return () => {
    const step = currentStep(pass)
    if (!step) pass.order.noteMove()
    const draw = step ? `${step.key}/${step.attempt}/${step.draws++}` : draws++
    return createHash('sha256').update(`${runId}/${draw}`).digest()
  }
}

/** Gives the run of a pass a tag, which is written with its next step, or with its end. */
function tagRun(pass: Pass, name: string, value: TagValue): void {
  pass.order.noteMove()
  if (pass.parking.isClosed) return
  if (pass.parking.hasCodeEnded) refuse('tag: it was called after the function of the run had ended', 'run_ended')
  const fault = findTagFault(name, value)
  if (fault) refuse(`tag: ${fault}`)
  if (pass.tags.set(name, String(value))) return
  refuse(`tag: the run has ${MAX_TAGS} tags already, and "${name}" is one more`)
}

/** Throws the fault of a call, with its place in the author's code. */
function refuse(fault: string, code: 'invalid_workflow' | 'run_ended' = 'invalid_workflow'): never {
  const place = findCallSite()
  throw new UpshotError(code, `${fault}${place === null ? '' : `, at ${place}`}.`)
}

/** Takes the code's word for how far its run has come. */
function reportProgress(pass: Pass, done: number, total: number, note?: string): void {
  pass.order.noteMove()
  const fault = findProgressFault(done, total, note)
  if (fault !== null) refuse(`progress: ${fault}`)
  pass.progress.tell({ done, total, failed: 0, note: note === undefined ? null : note.slice(0, MAX_NOTE_LENGTH) })
}
