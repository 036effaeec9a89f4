import type { Failure } from './errors.ts'
import type { DeliveryFacts, Verdict } from './incoming/delivery.ts'
import type { Effect } from './runs/step.ts'

/**
 * A typed message "this just happened" inside the process. Logs, metrics, wake-ups and tests
 * listen; none decides.
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
   * Signatures fail since the last success: the secret may have changed at the service. Once per
   * episode.
   */
  | { kind: 'endpoint.suspect'; endpoint: string; failures: number; lastSuccessAt: number }
  | { kind: 'tick.recorded'; workflow: string; scheduledFor: number; missed: number; run: string }
  | { kind: 'run.queued'; count: number }
  | { kind: 'run.completed'; run: string; workflow: string; ms: number; steps: number }
  | { kind: 'run.failed'; run: string; workflow: string; ms: number; error: Failure }
  | { kind: 'run.parked'; run: string; workflow: string; dueAt: number | null; reason: string; awaits: boolean }
  | { kind: 'run.limited'; run: string; workflow: string; dueAt: number | null; reason: string }
  | { kind: 'run.ready'; run: string; workflow: string }
  | { kind: 'run.retried'; run: string; workflow: string; dueAt: number; error: Failure }
  | { kind: 'run.skipped'; run: string; workflow: string; reason: string }
  | { kind: 'run.released'; run: string; workflow: string }
  /** By an event that its workflow's `cancelOn` names; with it went the runs it had invoked. */
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
      /** Null: that was the last attempt. */
      retryAt: number | null
      error: Failure
    }
  /** A name without a key stands in a loop: its steps are told apart by their order alone. */
  | { kind: 'step.repeated'; run: string; workflow: string; step: string; count: number }
  /** A key of an event could not be computed: what waits for that key does not find this event. */
  | { kind: 'event.unmatched'; event: string | null; type: string; key: string; error: Failure }
  | { kind: 'workflow.loaded'; workflow: string; file: string; on: string }
  /** `kept`: the version from before it broke stays at work. */
  | { kind: 'workflow.broken'; file: string; error: Failure; kept?: boolean }
  | { kind: 'workflows.reloaded'; workflows: number; broken: number }
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

/** Where stages say what happened. */
export type Publish = (notice: Notice) => void
