import { relative } from 'node:path'
import { type Failure, findAuthorFrame } from '../../core/errors.ts'
import type { DeliveryFacts, Verdict } from '../../core/incoming/delivery.ts'
import type { Caller, Notice, NoticeKind, NoticeOf } from '../../core/notices.ts'
import { NEXT_ATTEMPT_REASON, waitsForLimit } from '../../core/runs/retry.ts'
import type { RunName } from '../../core/runs/run.ts'
import { eventSpanIdOf, type RunRoot, runSpanIdOf, stepSpanIdOf, traceIdOf } from '../../core/runs/trace.ts'
import { type RedactKnown, redactFacts, redactText } from './redact.ts'

/** From the least to the most urgent. */
const LINE_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LineLevel = (typeof LINE_LEVELS)[number]

/** One log line before it is formatted; secrets are redacted already. */
export interface LogLine {
  level: LineLevel
  /** Constant for a kind of notice, so that it can be searched for; only an author's own vary. */
  message: string
  fields: Record<string, unknown>
}

/** The log line of a notice; null where it is below the level `min`. */
export function planLogLine(notice: Notice, min: LineLevel | 'silent' = 'debug', known?: RedactKnown): LogLine | null {
  const plan = LINES[notice.kind] as (notice: Notice) => LogLine
  const { level, message, fields } = plan(notice)
  if (min === 'silent' || LINE_LEVELS.indexOf(level) < LINE_LEVELS.indexOf(min)) return null
  // This line exists to show our own URLs; URLs anywhere else lose their paths.
  if (notice.kind === 'app.started') return { level, message, fields }
  const facts = redactFacts(nameCause(fields), known)
  return { level, message: redactText(message, known), fields: { ...facts, ...traceFields(notice) } }
}

/** Fields with the event that a run goes back to, and the step that made a call. */
function nameCause({ root, caller, parentRun, ...fields }: LogLine['fields']): LogLine['fields'] {
  const { run, workflow, step, attempt } = (caller ?? {}) as Partial<Caller>
  const origin = root as RunRoot | null | undefined
  return {
    ...fields,
    ...(caller == null ? {} : { run, workflow, step, attempt }),
    ...(parentRun == null ? {} : { parentRun }),
    ...(origin?.kind === 'event' ? { event: origin.event } : {}),
  }
}

/** The ids of the line's span; also in a process that sends no traces. */
function traceFields(notice: Notice): Record<string, string> {
  if (notice.kind === 'delivery.received') {
    const { account, event } = notice
    if (account === null || event === null) return {}
    return { trace_id: traceIdOf({ kind: 'event', account, event }), span_id: eventSpanIdOf({ account, event }) }
  }
  if (notice.kind === 'files.called') return notice.caller === null ? {} : spanOf(notice.caller)
  return 'root' in notice ? spanOf(notice) : {}
}

function spanOf(about: { run: string; root: RunRoot | null; step?: string; attempt?: number }): Record<string, string> {
  const { run, root, step, attempt } = about
  if (root === null) return {}
  const isStep = step !== undefined && attempt !== undefined
  return { trace_id: traceIdOf(root), span_id: isStep ? stepSpanIdOf(run, step, attempt) : runSpanIdOf(run) }
}

/** Calls that no guard and no ledger sees. */
const OUTSIDE: Partial<Record<NoticeOf<'code.undeclared'>['where'], string>> = {
  past_files: 'the code calls the service past `files`: no guard and no ledger sees that',
  refused: 'a delete past `files` was refused: the code is to use `files` of its run',
  unseen: 'the code starts what nobody sees: if that is well, name its workflow in `outside.processes`',
}
const UNDECLARED = 'the code acts where no step declares it: put that into a step with its effect'

/** The line that stands for lines that the reader of the log was too slow for. */
export function planDropped(count: number): LogLine {
  return { level: 'warn', message: 'log lines dropped: the reader of the log is too slow', fields: { count } }
}

/** The line of the step has told of the pause before its next attempt. */
function levelOfPause(reason: string): LineLevel {
  return reason.startsWith(NEXT_ATTEMPT_REASON) ? 'debug' : 'info'
}

type Lines = { [Kind in NoticeKind]: (notice: NoticeOf<Kind>) => LogLine }

const LINES: Lines = {
  'delivery.received': ({ kind, verdict, facts: { secret, ...facts }, ...fields }) => ({
    ...deliveryLine(verdict, facts, fields.event !== null),
    // The position of a secret is harmless, but the name `secret` would redact it.
    fields: { verdict, ...fields, ...facts, ...(secret === undefined ? {} : { matched: secret }) },
  }),
  'endpoint.suspect': ({ kind, lastSuccessAt, ...fields }) =>
    line('warn', 'signatures have failed since the last success: the secret may have changed at the service', {
      ...fields,
      lastSuccessAt: new Date(lastSuccessAt),
    }),
  'ticks.missed': ({ kind, since, ...fields }) =>
    line('warn', 'moments of the schedule passed while no scheduler ran', { ...fields, since: new Date(since) }),
  'tick.recorded': ({ kind, scheduledFor, ...fields }) =>
    line('info', 'tick recorded', { ...fields, scheduledFor: new Date(scheduledFor) }),
  'schedule.changed': ({ kind, root: _, ...fields }) => line('info', 'schedule changed by a run', fields),
  'run.queued': ({ count }) => line('debug', 'runs queued', { count }),
  'run.started': ({ kind, ...fields }) => line('debug', 'run started', fields),
  'run.completed': ({ kind, ...fields }) => line('info', 'run completed', fields),
  'run.failed': ({ kind, error, ...fields }) => line('error', 'run failed', { ...fields, err: error }),
  'run.parked': ({ kind, dueAt, awaits, ...fields }) =>
    dueAt === null && awaits !== null
      ? line('info', 'run parked', fields)
      : dueAt === null
        ? line('warn', 'run waits for a person', fields)
        : line(levelOfPause(fields.reason), 'run parked', { ...fields, dueAt: new Date(dueAt) }),
  'approval.opened': ({ kind, ...fields }) => line('warn', 'people have to decide', fields),
  'approval.closed': ({ kind, ...fields }) => line('info', 'approval ended', fields),
  'run.limited': ({ kind, dueAt, ...fields }) =>
    line('info', 'run waits for its turn', dueAt === null ? fields : { ...fields, dueAt: new Date(dueAt) }),
  'run.progress': ({ kind, progress, ...fields }) => line('debug', 'run goes on', { ...fields, ...progress }),
  'run.ready': ({ kind, ...fields }) => line('debug', 'run admitted', fields),
  'run.retried': ({ kind, dueAt, error, ...fields }) =>
    line('warn', 'run will be tried again', { ...fields, dueAt: new Date(dueAt), err: error }),
  'run.skipped': ({ kind, ...fields }) => line('info', 'run skipped', fields),
  'run.planned': ({ kind, ...fields }) => line('info', 'run planned', fields),
  'run.released': ({ kind, ...fields }) => line('info', 'run released', fields),
  'run.canceled': ({ kind, ...fields }) => line('info', 'run canceled', fields),
  'run.lost': ({ kind, failover = false, ...fields }) =>
    line('warn', failover ? 'pass dropped after a failover' : 'run taken over by another worker or a person', fields),
  'lease.given_back': ({ run }) => line('warn', 'run given back: the answer to its claim was lost', { run }),
  'run.log': ({ kind, level, message, ...fields }) => line(level, message, fields),
  'effects.mode': ({ mode, isSwitched }) =>
    mode === 'plan'
      ? line('warn', 'NOTHING ACTS HERE: UPSHOT_EFFECTS=plan, runs are only planned', { isSwitched })
      : line('warn', 'effects are live again: runs act, except those made while effects were only planned', {}),
  'effects.awaited': ({ kind, ...fields }) =>
    line('warn', 'effects are switched: waiting for a beat of a process whose clock was ahead', fields),
  'effects.restored': ({ anchoredAt }) =>
    line('error', 'ALL EFFECTS ARE STOPPED: the database was replaced by a backup. See "upshot guard show"', {
      anchoredAt: new Date(anchoredAt),
    }),
  'runs.recovered': ({ count }) => line('warn', 'runs of a dead worker recovered', { count }),
  'runs.suspected': ({ runs }) =>
    line('warn', 'runs were at work when their worker died: each is tried alone', { runs: runs.map(nameRun) }),
  'engine.ended': ({ cause, error, runs, guilty }) =>
    line('error', 'the engine ended and is started again', {
      cause,
      runs: runs.map(nameRun),
      err: error,
      ...(guilty.length > 0 && { guilty }),
    }),
  'memory.short': ({ kind, runs, at, ...use }) =>
    line('warn', 'memory is short: runs get a tenth of the slots', {
      ...use,
      runs: runs.map(nameRun),
      ...(at !== null && { at }),
    }),
  'slots.held': ({ kind, ...fields }) =>
    line('warn', 'no run can begin: steps have held the slots for over a minute, most of them this one', fields),
  'memory.enough': () => line('info', 'memory is enough again: runs get all slots', {}),
  'step.completed': ({ kind, ...fields }) => line('debug', 'step completed', fields),
  'step.failed': ({ kind, retryAt, error, ...fields }) =>
    retryAt === null
      ? line('warn', 'step failed', { ...fields, err: error })
      : waitsForLimit(error)
        ? line('info', 'step waits for the limit of requests', { ...fields, retryAt: new Date(retryAt) })
        : line('warn', 'step will be tried again', { ...fields, retryAt: new Date(retryAt), err: error }),
  'step.shared': ({ kind, ...fields }) =>
    line('warn', 'two branches use one step name at the same time: give each its key, as [name, key]', fields),
  'step.joined': ({ kind, ...fields }) =>
    line('warn', 'the function of the run returned before this step had ended: await every step', fields),
  'wait.changed': ({ kind, ...fields }) =>
    line('warn', 'an open wait keeps its event, though the code asks for another: rename the step', fields),
  'code.pending': ({ kind, ...fields }) =>
    line('warn', 'the run has to wait while its code awaits something outside steps: put that into a step', fields),
  'code.timer': ({ kind, ...fields }) =>
    line('warn', 'a timer outside steps does not survive a pause: use step.sleep, or put it into a step', fields),
  'code.undeclared': ({ kind, ...fields }) => line('warn', OUTSIDE[fields.where] ?? UNDECLARED, fields),
  'step.repeated': ({ kind, ...fields }) =>
    line('warn', 'a step name repeats: give each turn of a loop its key, as [name, key]', fields),
  'event.drifted': ({ kind, changes, ...fields }) =>
    line('warn', 'shape of the event is new', { ...fields, changes: changes.join('; ') }),
  'event.missing': ({ kind, ...fields }) => line('error', 'an event was lost: no delivery told of the file', fields),
  'event.made_up': ({ kind, ...fields }) => line('error', 'an event was lost, and is made up', fields),
  'sweep.ended': ({ kind, fault, ...fields }) =>
    fault === null
      ? line(fields.missing > 0 ? 'error' : 'info', 'sweep of a storage ended', fields)
      : line('warn', 'sweep of a storage is not complete, and proves no loss', { ...fields, fault }),
  'event.unmatched': ({ kind, error, ...fields }) => line('warn', 'event not matched', { ...fields, err: error }),
  'workflow.loaded': ({ kind, ...fields }) => line('info', 'workflow loaded', fields),
  'workflow.broken': ({ file, error, kept = false }) =>
    line('error', kept ? 'workflow broken, its former version stays at work' : 'workflow broken', {
      file,
      place: placeOf(error),
      err: error,
    }),
  'workflows.reloaded': ({ kind, ...fields }) => line('info', 'workflows reloaded', fields),
  'workflows.removed': ({ kind, ...fields }) =>
    line('warn', 'workflows removed: no module defines them, so their events start no run any more', fields),
  'workflows.elsewhere': ({ kind, ...fields }) =>
    line('warn', 'workers disagree: another one has workflows that this folder lacks, and they stay', fields),
  'workflow.missing': ({ workflow, cause }) =>
    cause === undefined
      ? line('warn', 'runs wait for a workflow that no worker at work has: bring its module back, or cancel them', {
          workflow,
          fix: `upshot runs cancel --workflow ${workflow} --status waiting`,
        })
      : line('warn', 'runs wait for other code of a workflow: no module at work starts on their cause', {
          workflow,
          cause,
          fix: `Deploy code that does, or cancel them: upshot runs list --workflow ${workflow} --status waiting`,
        }),
  'files.called': ({ kind, tries, ...fields }) => line('debug', 'files called', fields),
  'files.warned': ({ service, message }) => line('warn', message, { service }),
  'effects.anchored': ({ kind, ...fields }) => line('info', 'effects anchored', fields),
  'store.pruned': ({ kind, ...fields }) => line('info', 'store pruned', fields),
  'store.protected': ({ paths }) =>
    line('warn', 'other users of this machine could read the data of the app: only its owner can now', { paths }),
  'store.awaited': ({ error }) => line('warn', 'waiting for the database', { err: error }),
  'store.log_missing': ({ file }) => line('error', LOG_MISSING, { file: `${file}-wal` }),
  'store.network_disk': ({ kind, ...fields }) =>
    line('error', 'the database is on a network file system: a crash may cost events. See "upshot doctor"', fields),
  'store.standby_left': ({ why }) =>
    line('warn', 'lists come from the primary until the standby can answer them', { why }),
  'store.standby_back': ({ ms }) => line('info', 'lists come from the standby again', { ms }),
  'variable.unknown': ({ name, like }) =>
    line('warn', `the variable ${name} is not known and does nothing${like === null ? '' : `; ${like} is`}`, {}),
  'sandbox.logged': ({ message }) => line('debug', message, {}),
  'admin.answered': ({ kind, ...fields }) => line('debug', 'admin request answered', fields),
  'alert.sent': ({ kind, error, ...fields }) =>
    error === null ? line('info', 'alert sent', fields) : line('error', 'alert not sent', { ...fields, err: error }),
  'files.limited': ({ kind, ...fields }) => line('warn', FILES_LIMITED, fields),
  fault: ({ where, error }) => line('error', error.code === 'EMFILE' ? TOO_MANY_FILES : 'fault', { where, err: error }),
  'app.started': ({ urls }) => line('info', 'started', { urls }),
  'app.stopping': ({ reason }) => line('info', 'stopping', { reason }),
  'app.stopped': () => line('info', 'stopped', {}),
}

const RAISE = 'Raise its limit with "ulimit -n", or where your supervisor sets it'
const FILES_LIMITED = `this process may not open as many files as it takes connections. ${RAISE}`
const TOO_MANY_FILES = `this process has too many open files, connections included. ${RAISE}`

const LOG_MISSING =
  'the log of the database is missing after a crash: the newest events and runs may be lost. ' +
  'Stop, bring the file back if it was moved, and start again'

function deliveryLine(verdict: Verdict, facts: DeliveryFacts, hasEvent: boolean) {
  if (verdict !== 'accepted') return DELIVERY_LINES[verdict]
  if (facts.unsafeNumber !== undefined) return UNSAFE_NUMBER
  return hasEvent && facts.unmatched ? UNMATCHED : DELIVERY_LINES.accepted
}

const UNSAFE_NUMBER = {
  level: 'warn',
  message: 'delivery accepted; a number in it is beyond 2^53 and was rounded, so read no id from it',
} as const
const UNMATCHED = { level: 'info', message: 'delivery accepted; no workflow starts on its type' } as const
const REFUSED = { level: 'warn', message: 'delivery refused' } as const
const DELIVERY_LINES: Record<Verdict, { level: LineLevel; message: string }> = {
  accepted: { level: 'info', message: 'delivery accepted' },
  duplicate: { level: 'info', message: 'delivery known already' },
  conflict: { level: 'warn', message: 'delivery contradicts a known event' },
  bad_json: REFUSED,
  incomplete: REFUSED,
  bad_signature: REFUSED,
  stale: REFUSED,
  unknown_endpoint: REFUSED,
  disabled: REFUSED,
  unknown_hook: REFUSED,
  answered: REFUSED,
  closed: REFUSED,
  misfit: REFUSED,
  too_large: REFUSED,
  wrong_type: REFUSED,
  consumed: { level: 'error', message: 'delivery refused: other code has read its body' },
  learning: { level: 'info', message: 'delivery captured for the scheme solver' },
  overloaded: REFUSED,
  unavailable: REFUSED,
  draining: { level: 'info', message: 'delivery refused' },
  probe: { level: 'info', message: 'own probe answered' },
}

function nameRun({ run, workflow }: RunName): string {
  return `${run} (${workflow})`
}

/** The author's file and line in a fault, from this folder on. */
function placeOf(error: Failure): string | undefined {
  const frame = findAuthorFrame(error)
  return frame === null ? undefined : relative(process.cwd(), frame)
}

function line(level: LineLevel, message: string, fields: LogLine['fields']): LogLine {
  return { level, message, fields }
}

/** The properties of an error that a log may contain; all others are left out. */
export function serializeError({ name, message, code, at }: Failure): Failure {
  return { name, message, ...(code === undefined ? {} : { code }), ...(at === undefined ? {} : { at }) }
}
