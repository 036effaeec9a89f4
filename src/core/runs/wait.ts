/** What a step, or a run's `cancelOn`, waits for: events of a type whose keys have a value. */
export interface EventWait {
  account: string
  /** A type, or a pattern such as `file.*`. */
  type: string
  /** Names of keys joined by `+`; empty: any event of the type. */
  name: string
  value: string
  /** Of the key functions that this process has: the registry's version of a key. */
  version: string
  /** `now`: events stored after the wait; `run`: also those stored since the run was made. */
  since: 'now' | 'run'
  /** When it began. */
  at: number
}

/** A run that a step starts. */
export interface Invocation {
  run: string
  workflow: string
  account: string
  /** JSON text. */
  input: string
  createdAt: number
}

/** An event that a step makes, with the runs it starts. */
export interface SentEvent {
  id: string
  type: string
  account: string
  /** Epoch milliseconds. */
  createdAt: number
  body: string
  workflows: readonly string[]
}

/** What is written in the commit of a step's checkpoint. */
export interface SavedWithStep {
  /** For the run's row: of the code that writes its journal from here. */
  codeHash?: string
  /** The result, where it is too large for the row. */
  packed?: Uint8Array
  wait?: EventWait
  invoke?: Invocation
  send?: SentEvent
  /** The step waits no longer. */
  isSettled?: true
  /** Ends a run, with what it invoked. */
  cancel?: { run: string; reason: string; now: number }
}
