import type { EngineEndCause, MemoryUse } from './blockage.ts'
import type { Failure } from './errors.ts'
import type { DeliveryFacts, Verdict } from './incoming/delivery.ts'
import type { Progress } from './runs/annotations/progress.ts'
import type { Tags } from './runs/annotations/tags.ts'
import type { RunName, RunOrigin } from './runs/run.ts'
import type { Effect } from './runs/step.ts'
import type { RunRoot } from './runs/trace.ts'
import type { ApprovalStatus } from './safety/approval.ts'
import type { OutsideAct } from './safety/ledger/outside-act.ts'
import type { EffectsMode } from './safety/stop.ts'

export interface AboutRun {
  run: string
  workflow: string
  /** Null where the publisher does not know it: for a run that another run or an event ended. */
  root: RunRoot | null
}

/** A run that goes no further, or goes on later. */
interface AboutOutcome extends AboutRun {
  /** The run that invoked it; null for none, or where `root` is null. */
  parentRun: string | null
  /** The run that it repeats, forks, or follows the failure of; left out for none. */
  originRun?: string
}

/** A run whose code ended. */
interface AboutEnd extends AboutOutcome {
  /** Milliseconds from its making to its first claim; left out where nothing tells. */
  waitedMs?: number
}

/** A request of a call of the Files API, after a wait. Times are milliseconds. */
interface CallTry {
  waitedMs: number
  ms: number
  status: number | null
  /** `ok`, or the failure. */
  reason: string
}

/** One attempt of a step. */
interface AboutAttempt extends AboutRun {
  step: string
  /** Counted from 1. */
  attempt: number
  effect: Effect
  /** Milliseconds that the attempt took. */
  ms: number
}

/** The attempt of a step that makes a call of the Files API. */
export interface Caller extends AboutRun {
  step: string
  attempt: number
  /** Header of the call's requests; left out where its trace is not sent. */
  traceparent?: string
}

/**
 * A typed message "this just happened" inside the process. Logs, wake-ups and tests listen; no
 * decision rests on a notice.
 */
export type Notice =
  | {
      kind: 'delivery.received'
      delivery: string
      /** Id of the endpoint, with its name at that moment; both null where the path has none. */
      endpoint: string | null
      endpointName: string | null
      /** Account of the event; null without one. */
      account: string | null
      verdict: Verdict
      event: string | null
      type: string | null
      /** The path that the event is about; null where it names none. */
      subject: string | null
      runs: number
      /** The workflows of those runs. */
      workflows: readonly string[]
      facts: DeliveryFacts
      ms: number
    }
  /**
   * Signatures have failed since the last success, so the secret may have changed at the service.
   * Once per series of failures.
   */
  | { kind: 'endpoint.suspect'; endpoint: string; endpointName: string | null; failures: number; lastSuccessAt: number }
  /** Moments of a schedule passed since `since` while no scheduler ran, and get no run. */
  | { kind: 'ticks.missed'; schedule: string; workflow: string; count: number; since: number }
  | {
      kind: 'tick.recorded'
      schedule: string
      workflow: string
      account: string
      scheduledFor: number
      missed: number
      run: string
    }
  /** A run made, changed or removed a schedule. */
  | ({ kind: 'schedule.changed'; schedule: string } & AboutRun)
  | { kind: 'run.queued'; count: number }
  /** Its code begins for the first time. `waitedMs`: since the run was made. */
  | ({ kind: 'run.started'; origin: RunOrigin | 'invoke'; waitedMs: number } & AboutRun)
  /** `ms` in this and the other ends of a run: since it was made. */
  | ({ kind: 'run.completed'; ms: number; steps: number; continuedBy?: string } & AboutEnd)
  /** `tags`: absent where the run has none. */
  | ({ kind: 'run.failed'; ms: number; error: Failure; tags?: Tags } & AboutEnd)
  /**
   * `dueAt`: when it goes on at the latest; null without such a moment. `awaits`: who may wake it
   * sooner, `event` for a run, too; null for nobody.
   */
  | ({ kind: 'run.parked'; dueAt: number | null; reason: string; awaits: 'event' | 'people' | null } & AboutOutcome)
  /** A gate holds the run back; `dueAt` is null where no time can be named. */
  | ({ kind: 'run.limited'; dueAt: number | null; reason: string } & AboutOutcome)
  /** Admitted, and waiting for a free slot of a worker. */
  | ({ kind: 'run.ready' } & AboutOutcome)
  | ({ kind: 'run.retried'; dueAt: number; error: Failure } & AboutOutcome)
  | ({ kind: 'run.skipped'; ms: number; reason: string } & AboutOutcome)
  /** It was only planned: `reason` says how it would end. Nothing was done. */
  | ({ kind: 'run.planned'; ms: number; reason: string } & AboutOutcome)
  | ({ kind: 'run.released' } & AboutOutcome)
  /**
   * Canceled by an event that its workflow's `cancelOn` names, together with the runs it invoked.
   * `ms` is null where `root` is.
   */
  | ({ kind: 'run.canceled'; ms: number | null; reason: string } & AboutOutcome)
  /** `failover`: the database has another history since its claim, so that the pass was dropped. */
  | ({ kind: 'run.lost'; failover?: true } & AboutOutcome)
  /** The worker held it and never heard of its claim. */
  | { kind: 'lease.given_back'; run: string }
  /** Its newest word for how far it has come, at most once a second. */
  | ({ kind: 'run.progress'; progress: Progress } & AboutRun)
  | ({ kind: 'run.log'; level: 'info' | 'warn' | 'error'; message: string; facts: object } & AboutRun)
  /** At a start: effects are only planned, or the mode is not that of the last start. */
  | { kind: 'effects.mode'; mode: EffectsMode; isSwitched: boolean }
  /** A start with another mode waits `ms`: does process `pid`, whose clock is ahead, still beat? */
  | { kind: 'effects.awaited'; pid: number; seenAt: number; ms: number }
  /** The database does not have its newest anchor, so all effects were stopped. */
  | { kind: 'effects.restored'; anchoredAt: number }
  | { kind: 'runs.recovered'; count: number }
  /** They were at work when their worker died, so each is tried alone. */
  | { kind: 'runs.suspected'; runs: RunName[] }
  /**
   * The engine ended and begins again; `runs` were at work. `guilty`: those whose code was seen to
   * end it, or the only one.
   */
  | { kind: 'engine.ended'; cause: EngineEndCause; error: Failure; runs: RunName[]; guilty: readonly string[] }
  /** Runs get a tenth of the slots until it is enough. `at`: the code that is seen to fill it. */
  | ({ kind: 'memory.short'; runs: RunName[]; at: string | null } & MemoryUse)
  | { kind: 'memory.enough' }
  /** For a minute, steps have held `held` of the slots. None is free, and most have this step. */
  | { kind: 'slots.held'; slots: number; held: number; workflow: string; step: string; target: string | null }
  | ({
      kind: 'step.completed'
      target: string | null
      /** Id of the event that it sent; left out for any other step. */
      sent?: string
    } & AboutAttempt)
  | ({
      kind: 'step.failed'
      /** Time of the next attempt; null after the last one. */
      retryAt: number | null
      error: Failure
    } & AboutAttempt)
  /** Effects over a limit, or a question, wait for people. `rule`: null for a question. */
  | ({ kind: 'approval.opened'; approval: string; step: string; reason: string; rule: string | null } & AboutRun)
  /** The first run that acts on the end of an approval tells of it. */
  | ({ kind: 'approval.closed'; approval: string; step: string; status: ApprovalStatus } & AboutRun)
  /** A name without a key is used in a loop: only their order tells its steps apart. */
  | { kind: 'step.repeated'; run: string; workflow: string; step: string; count: number }
  /** Two branches use a name without a key at the same time. */
  | { kind: 'step.shared'; run: string; workflow: string; step: string }
  /** It was still at work when the run's function returned; the end of the run waited for it. */
  | { kind: 'step.joined'; run: string; workflow: string; step: string; place: string | null }
  /** An open wait goes on for `target`, and its code asks for `asked` now. */
  | {
      kind: 'wait.changed'
      run: string
      workflow: string
      step: string
      target: string | null
      asked: string
      place: string | null
    }
  /** The run has to wait while its code awaits something outside steps, begun at `place`. */
  | { kind: 'code.pending'; run: string; workflow: string; place: string | null }
  /** A timer of the code's own, outside steps: no replay repeats it. */
  | { kind: 'code.timer'; run: string; workflow: string; place: string | null }
  /** A call of the code that the guard and the ledger do not see, once for each place. */
  | ({ kind: 'code.undeclared' } & Omit<OutsideAct, 'at'>)
  /** A key function failed on an event, so waits for that key will not find this event. */
  | { kind: 'event.unmatched'; event: string | null; type: string; key: string; error: Failure }
  /** The event has, or lacks, what none of its type did before. `changes`: places and kinds. */
  | { kind: 'event.drifted'; event: string; account: string; type: string; changes: readonly string[] }
  /** A sweep of a storage ended. `fault`: why it is not complete, so that it accuses nobody. */
  | {
      kind: 'sweep.ended'
      account: string
      storage: string
      number: number
      files: number
      fault: string | null
      missing: number
      unclear: number
      /** True: so many are missing that people decide. */
      held: boolean
    }
  /** No event told of the file, and a sweep proves that one should have. */
  | { kind: 'event.missing'; account: string; type: string; storage: string; file: string; path: string }
  /** The same, and the event was made up. */
  | {
      kind: 'event.made_up'
      event: string
      account: string
      type: string
      storage: string
      file: string
      path: string
    }
  | { kind: 'workflow.loaded'; workflow: string; file: string; on: string }
  /** `kept`: the version loaded before stays in use. */
  | { kind: 'workflow.broken'; file: string; error: Failure; kept?: boolean }
  | { kind: 'workflows.reloaded'; workflows: number; broken: number }
  /** No worker at work has these workflows any more. */
  | { kind: 'workflows.removed'; workflows: string[] }
  /** Other workers at work have these workflows, and this one does not. */
  | { kind: 'workflows.elsewhere'; workflows: string[] }
  /**
   * A run came to a worker, and no worker at work has its module. Once until it is loaded. `cause`:
   * there is a module, and it does not start on this, such as an event type.
   */
  | { kind: 'workflow.missing'; workflow: string; cause?: string }
  | {
      kind: 'files.called'
      operation: string
      service: string
      /** Account whose key made the call. */
      account: string
      /** The step that called; null outside a run. */
      caller: Caller | null
      id: string | null
      status: number | null
      outcome: string
      attempts: number
      ms: number
      /** The part of `ms` that the call waited: for the limit, and between attempts. */
      waitedMs: number
      /** Its requests in their order; left out for a single one without a wait. */
      tries?: readonly CallTry[]
    }
  | { kind: 'files.warned'; service: string | null; message: string }
  | {
      kind: 'store.pruned'
      runs: number
      deliveries: number
      payloads: number
      audit: number
      effects: number
      files: number
      ms: number
    }
  /** The end of the chain over the effect ledger, for a keeper outside the database. */
  | { kind: 'effects.anchored'; seal: number; last: number; mac: string }
  /** A process that starts waits for its database. */
  | { kind: 'store.awaited'; error: Failure }
  /** A process ended without closing the database, and the log that it left is not there. */
  | { kind: 'store.log_missing'; file: string }
  /** The data directory is on a network file system, such as `NFS`. */
  | { kind: 'store.network_disk'; folder: string; disk: string }
  /** The primary answers lists from now on: the standby is behind or gone. */
  | { kind: 'store.standby_left'; why: string }
  /** The standby answers lists again, after `ms`. */
  | { kind: 'store.standby_back'; ms: number }
  /** Nothing reads this variable of the environment. `like`: the known name that is most alike. */
  | { kind: 'variable.unknown'; name: string; like: string | null }
  /** The process may have `limit` files open at once, and needs them for `connections` alone. */
  | { kind: 'files.limited'; limit: number; connections: number }
  /** Other users of the machine could read these, and can no more. */
  | { kind: 'store.protected'; paths: string[] }
  | { kind: 'sandbox.logged'; message: string }
  /** A request to the admin API; `operation` as in its table, such as `GET /runs/{id}`. */
  | { kind: 'admin.answered'; operation: string; status: number; ms: number }
  /** A message of an alert rule to one channel; `error` is null where it was taken. */
  | { kind: 'alert.sent'; rule: string; channel: string; summary: string; items: number; error: Failure | null }
  | { kind: 'fault'; where: string; error: Failure }
  | { kind: 'app.started'; urls: Record<string, string> }
  | { kind: 'app.stopping'; reason: string }
  | { kind: 'app.stopped' }

export type NoticeKind = Notice['kind']
export type NoticeOf<Kind extends NoticeKind> = Extract<Notice, { kind: Kind }>

/** Hands a notice to its listeners. Stages call it after the fact. */
export type Publish = (notice: Notice) => void
