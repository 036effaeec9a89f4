import type { Hook } from '../incoming/hook.ts'
import type { JsonValue } from '../json.ts'
import type { Tags } from './annotations/tags.ts'
import type { NewSchedule } from './schedule.ts'

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
   * created. `after`: those stored after these events of the account, and since the first run of
   * its chain was created.
   */
  since: 'now' | 'run' | { after: readonly string[] }
  /** When the wait began, in epoch milliseconds. */
  at: number
  /** Id of the hook whose answers these events are. The commit of an answer resolves the wait. */
  hook?: string
}

/** Longest chain of runs that invoke or schedule one another without a pause. */
export const MAX_CHAIN = 100

/** Depth that such a link adds to a run. One that takes a minute or longer adds 1. */
export const LINK = 100

/** Longest chain of runs that send one another events without a pause. */
export const MAX_SENT = 1_000

/** Largest depth of a run. */
export const MAX_DEPTH = MAX_CHAIN * LINK

/** A link by an event adds this. */
export const SENT_LINK = MAX_DEPTH / MAX_SENT

/** A run that a step or a person starts. */
export interface Invocation {
  run: string
  workflow: string
  account: string
  /** JSON text. */
  input: string
  /** Epoch milliseconds. */
  createdAt: number
  /** When the step that invokes it gives up, in epoch milliseconds. Default null: never. */
  endsBy?: number | null
  /** True where it goes on although its parent fails or is canceled. Default false. */
  outlives?: boolean
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
  /** Depth of its runs. Default 0. */
  depth?: number
}

/** The state in which people see a file. */
interface SeenFile {
  path: string | null
  bytes: number | null
  /** ISO 8601, as the service sent it. */
  modifiedAt: string | null
}

/** A question of `step.approve`. Moments are epoch milliseconds. */
export interface Question {
  workflow: string
  account: string
  ask: string
  show: JsonValue
  /** JSON Schema of the answer; null where none is asked for. */
  answer: JsonValue
  needs: number
  role: string | null
  /** The effects of later steps that it is for; a yes lets each of them begin, as it was seen. */
  effects: readonly { step: string; target: string; asked: SeenFile }[]
  openedAt: number
  expiresAt: number
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
  /** A schedule of code to make or change, or the name of one to remove. */
  schedule?: NewSchedule & { madeAt: number }
  unschedule?: string
  /**
   * For the ledger: the effect had a permit, or its author says what it is made of.
   * `isUntargeted`: a write without a target, which gets a row all the same.
   */
  effect?: { input: string | null; before?: string | null; isUntargeted?: true }
  /** The step waits no longer. */
  isSettled?: true
  hook?: Omit<Hook, 'runId' | 'step'>
  /** A question for people, which the step waits for. */
  approve?: Question
  /** A question that nobody decided in time. */
  expire?: { approval: string; now: number }
  /** Tags that the code gave its run since the step before. */
  tags?: Tags
  /** A run to cancel, together with the runs it invoked. */
  cancel?: { run: string; reason: string; now: number }
}
