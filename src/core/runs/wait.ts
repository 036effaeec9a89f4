/** A step, or a rule of `cancelOn`, that waits for an event with a certain key value. */
export interface EventWait {
  account: string
  /** A type, or a pattern such as `file.*`. */
  type: string
  /** Names of keys joined by `+`; empty: any event of the type. */
  name: string
  value: string
  /** Version of the key functions in this process, from the registry. */
  version: string
  /**
   * `now`: events stored after the wait. `run`: also earlier ones, stored since the run was
   * created.
   */
  since: 'now' | 'run'
  /** When the wait began, in epoch milliseconds. */
  at: number
}

/** Deepest run that `step.invoke` makes: it has this many runs above it. */
export const MAX_INVOKE_DEPTH = 100

/** A run that a step or a person starts. */
export interface Invocation {
  run: string
  workflow: string
  account: string
  /** JSON text. */
  input: string
  /** Epoch milliseconds. */
  createdAt: number
}

/** An event that a step makes, with the workflows that it starts. */
export interface SentEvent {
  id: string
  type: string
  account: string
  /** Epoch milliseconds. */
  createdAt: number
  /** JSON text, in the form of a delivery's body. */
  body: string
  workflows: readonly string[]
}

/** Everything written in the commit of a step's checkpoint. */
export interface SavedWithStep {
  /** Hash of the code that writes the journal from here; stored with the run. */
  codeHash?: string
  /** The compressed result, when it is too large for the row. */
  packed?: Uint8Array
  wait?: EventWait
  invoke?: Invocation
  send?: SentEvent
  /** The step waits no longer. */
  isSettled?: true
  /** A run to cancel, together with the runs it invoked. */
  cancel?: { run: string; reason: string; now: number }
}
