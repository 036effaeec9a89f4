import type { JsonValue } from '../json.ts'

/** A person, or a program on a person's behalf, who acts on a project. */
export interface Operator {
  /** Such as `cli:ada`, or the name of a token. Nothing proves the user of a command line. */
  actor: string
  /** The role under which the action was allowed. */
  role: string
  /** Host or address that the action came from. */
  from: string
  /** The reason given; null for none. */
  reason: string | null
}

/** The ends of an action. `begun`: its effects are outside the database, so its end is not here. */
export const AUDIT_OUTCOMES = ['done', 'unchanged', 'refused', 'begun'] as const
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

export interface AuditedAction {
  /** A noun and a verb, such as `run.retry`. */
  action: string
  /** An id or a name; null where there is none. */
  target: string | null
  /** Never a secret, nor the content of a file or an event. */
  parameters: { readonly [name: string]: JsonValue }
}

/** An action of an operator, before its outcome is known. */
export interface AuditEntry extends Operator, AuditedAction {
  /** Epoch milliseconds. */
  at: number
}

/** A row of the audit log. Rows are appended, and never changed. */
export interface AuditRecord extends AuditEntry {
  /** `aud_…`; ids sort by time. */
  id: string
  outcome: AuditOutcome
  /** The message of a refusal; null otherwise. */
  error: string | null
}

/** Target of the rows that say when effects began to be planned, or live. They are never pruned. */
export const LASTING_TARGET = 'UPSHOT_EFFECTS'

/** Selects rows of the audit log; every part narrows. */
export interface AuditFilter {
  actor?: string
  /** An action, or a family such as `run.*`. */
  action?: string
  target?: string
  /** At this moment or later, in epoch milliseconds. */
  since?: number
  /** Before this moment, in epoch milliseconds. */
  until?: number
  /** Before the row with this id: the last one of the page before. */
  before?: string
}
