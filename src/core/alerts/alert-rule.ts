/**
 * Kinds of rules. `state`: something is so until it is over. `count`: things happen, and it is over
 * once none has for the rule's `everyMs`. `once`: each is told once, and is never over.
 */
export const ALERT_KINDS = {
  /** By workflow and kind of failure. */
  'run.failed': 'count',
  /** Runs that only a person lets go on, by workflow. */
  'run.waits': 'state',
  /** By approval, until it is decided or expires. */
  'approval.asked': 'state',
  /** Signatures of an endpoint fail although they used to match. */
  'endpoint.suspect': 'state',
  /** An endpoint takes nothing, though it usually does at this hour. */
  'endpoint.silent': 'state',
  /** The oldest pending run waits too long. */
  'queue.age': 'state',
  /** Moments of a schedule without a run, because no scheduler ran. */
  'tick.missed': 'count',
  /** Files of which no event told, by storage, as `reconcile` finds them. */
  'event.missing': 'count',
  /** Code of a workflow calls past the guard and the ledger, in a way and place that is new. */
  'effect.outside': 'once',
  /** A process at work could not load a module, by module. */
  'module.broken': 'state',
  /** Too much of the disk of the database is used. */
  'disk.low': 'state',
  /** A shadow differs from runs of its workflow in a way that is new, and not accepted. */
  'shadow.differs': 'once',
  /** An operation on many runs is done or aborted. */
  'operation.done': 'once',
} as const satisfies Record<string, 'state' | 'count' | 'once'>

export type AlertKind = keyof typeof ALERT_KINDS

/** Kinds whose count is a measure, which their titles tell, and no number of things. */
export const MEASURED_ALERTS: ReadonlySet<AlertKind> = new Set(['queue.age', 'disk.low'])

/** A rule of the project file, completed with defaults. */
export interface AlertRule {
  /** Unique; the kind, and the workflow if it has one, where the file gives no name. */
  name: string
  when: AlertKind
  /** Null: every workflow. */
  workflow: string | null
  /**
   * Tells only above this number of runs, ticks, events or failures. For `disk.low` it is a
   * share of the disk, for `queue.age` milliseconds.
   */
  over: number
  /** Milliseconds for which a state has to hold before it is told. */
  forMs: number
  /** Shortest time between two messages about the same thing, in milliseconds. */
  everyMs: number
  /** Names of channels. */
  to: readonly string[]
}

/** Where messages go. Addresses of web hooks are secrets, because who knows them can post. */
export type AlertChannel =
  | { kind: 'webhook'; url: string; secret: string }
  | { kind: 'slack'; url: string }
  | { kind: 'email'; smtp: string; from: string; to: readonly string[] }

/** The part of the project file about alerts. */
export interface AlertPlan {
  rules: readonly AlertRule[]
  channels: Readonly<Record<string, AlertChannel>>
}
