import type { Failure } from './errors.ts'
import type { DeliveryFacts, Verdict } from './incoming/delivery.ts'
import type { Effect } from './runs/step.ts'

/**
 * A typed message "this just happened" inside the process. Logs, wake-ups and tests listen; no
 * decision rests on a notice.
 */
export type Notice =
  | {
      kind: 'delivery.received'
      delivery: string
      endpoint: string | null
      verdict: Verdict
      event: string | null
      type: string | null
      runs: number
      facts: DeliveryFacts
      ms: number
    }
  /**
   * Signatures have failed since the last success, so the secret may have changed at the service.
   * Once per series of failures.
   */
  | { kind: 'endpoint.suspect'; endpoint: string; failures: number; lastSuccessAt: number }
  | { kind: 'tick.recorded'; workflow: string; scheduledFor: number; missed: number; run: string }
  | { kind: 'run.queued'; count: number }
  | { kind: 'run.completed'; run: string; workflow: string; ms: number; steps: number }
  | { kind: 'run.failed'; run: string; workflow: string; ms: number; error: Failure }
  /**
   * `dueAt`: when it goes on at the latest; null where only an event, a run or a person wakes it.
   */
  | { kind: 'run.parked'; run: string; workflow: string; dueAt: number | null; reason: string; awaits: boolean }
  /** A gate holds the run back; `dueAt` is null where no time can be named. */
  | { kind: 'run.limited'; run: string; workflow: string; dueAt: number | null; reason: string }
  /** Admitted, and waiting for a free slot of a worker. */
  | { kind: 'run.ready'; run: string; workflow: string }
  | { kind: 'run.retried'; run: string; workflow: string; dueAt: number; error: Failure }
  | { kind: 'run.skipped'; run: string; workflow: string; reason: string }
  | { kind: 'run.released'; run: string; workflow: string }
  /**
   * Canceled by an event that its workflow's `cancelOn` names, together with the runs it invoked.
   */
  | { kind: 'run.canceled'; run: string; workflow: string; reason: string }
  | { kind: 'run.lost'; run: string; workflow: string }
  | { kind: 'run.log'; run: string; workflow: string; level: 'info' | 'warn' | 'error'; message: string; facts: object }
  | { kind: 'runs.recovered'; count: number }
  | {
      kind: 'step.completed'
      run: string
      workflow: string
      step: string
      effect: Effect
      target: string | null
      attempt: number
      ms: number
    }
  | {
      kind: 'step.failed'
      run: string
      workflow: string
      step: string
      attempt: number
      /** Time of the next attempt; null after the last one. */
      retryAt: number | null
      error: Failure
    }
  /** A name without a key is used in a loop: only their order tells its steps apart. */
  | { kind: 'step.repeated'; run: string; workflow: string; step: string; count: number }
  /** A key function failed on an event, so waits for that key will not find this event. */
  | { kind: 'event.unmatched'; event: string | null; type: string; key: string; error: Failure }
  | { kind: 'workflow.loaded'; workflow: string; file: string; on: string }
  /** `kept`: the version loaded before stays in use. */
  | { kind: 'workflow.broken'; file: string; error: Failure; kept?: boolean }
  | { kind: 'workflows.reloaded'; workflows: number; broken: number }
  /** No worker at work has these workflows any more. */
  | { kind: 'workflows.removed'; workflows: string[] }
  /** Other workers at work have these workflows, and this one does not. */
  | { kind: 'workflows.elsewhere'; workflows: string[] }
  | {
      kind: 'files.called'
      operation: string
      service: string
      id: string | null
      status: number | null
      outcome: string
      attempts: number
      ms: number
    }
  | { kind: 'files.warned'; service: string | null; message: string }
  | { kind: 'store.pruned'; runs: number; deliveries: number; payloads: number; ms: number }
  | { kind: 'sandbox.logged'; message: string }
  | { kind: 'fault'; where: string; error: Failure }
  | { kind: 'app.started'; urls: Record<string, string> }
  | { kind: 'app.stopping'; reason: string }
  | { kind: 'app.stopped' }

export type NoticeKind = Notice['kind']
export type NoticeOf<Kind extends NoticeKind> = Extract<Notice, { kind: Kind }>

/** Hands a notice to its listeners. Stages call it after the fact. */
export type Publish = (notice: Notice) => void
