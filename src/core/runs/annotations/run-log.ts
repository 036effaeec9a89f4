/** A line that a run's code wrote with `log`. Times are epoch milliseconds. */
export interface RunLogLine {
  runId: string
  at: number
  level: 'info' | 'warn' | 'error'
  message: string
  /** JSON text of the facts, secrets redacted; null without any. */
  facts: string | null
}

/** A stored line. Lines of a run are counted from 1; the oldest of a long log are gone. */
export type KeptLogLine = RunLogLine & { number: number }

/** Characters of a message, and of the JSON text of its facts, that are kept. */
export const RUN_LOG_TEXT = 2_000
