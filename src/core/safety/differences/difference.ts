import type { CronTrigger } from '../../runs/schedule.ts'

/** A difference between two sides of a run, in words that are equal for runs that differ alike. */
export interface Change {
  /** `+`: only the code that is tried does it. `-`: only the other side; `~`: both, otherwise. */
  sign: '+' | '-' | '~'
  class: ChangeClass
  operation: string
  /** A storage, or the target without its digits; null: none. */
  target: string | null
  from: string | null
  to: string | null
  /** Bytes of the files that it is about. */
  bytes: number
}

/** The subject of a change: effects, their order or holds, or the start or end of a run. */
type ChangeClass = 'write' | 'delete' | 'send' | 'invoke' | 'approve' | 'start' | 'order' | 'hold' | 'end' | 'output'

/** A run as an example of a group. */
export interface Sample {
  /** Null for an event that has started none. */
  run: string | null
  /** The event that started it; null for another cause. */
  event: string | null
}

/** Runs that differ alike. */
export interface Group {
  /** Its changes as text: the same in every backtest. */
  key: string
  count: number
  /** Bytes of the files that more or fewer deletes are about. */
  bytes: number
  /** Each also as a line of text. */
  changes: (Omit<Change, 'bytes'> & { text: string })[]
  samples: Sample[]
}

/** The causes of a workflow's runs, and the limits that they pass before their code begins. */
export interface Starts {
  eventTypes: readonly string[]
  schedule: CronTrigger | null
  /** As text; null: not known. */
  limits: string | null
}

/** Runs about which nothing can be said, for one reason. */
interface Unknown {
  question: string
  count: number
  samples: Sample[]
}

/** The differences of code from runs. */
export interface Differences {
  /** Runs that were looked at. */
  runs: number
  /** Runs that were previewed, and of which something can be said. */
  answered: number
  same: number
  groups: Group[]
  cannotSay: Unknown[]
  /** Runs of which two previews differ. */
  unsteady: Sample[]
  /** Calls outside of steps that were refused, with how many runs made them. */
  refused: { call: string; count: number }[]
  /** Runs whose event has lost its body. */
  noBody: number
  /** Runs that a limit or a cancel ended before their code began. */
  notStarted: number
}

/** Before the first run. */
export const NO_DIFFERENCES: Differences = {
  ...{ runs: 0, answered: 0, same: 0, noBody: 0, notStarted: 0 },
  ...{ groups: [], cannotSay: [], unsteady: [], refused: [] },
}

/** Runs that are named in a group. */
export const SAMPLES = 20
/** The key of the group of all differences, or questions, for which there was no place. */
export const OTHERS = 'others'
