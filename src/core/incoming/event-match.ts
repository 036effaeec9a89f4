import type { Failure } from '../errors.ts'

/** `shape`: the definitions of a workflow; `keys`: those of its limits, and its priority. */
export const MATCH_CLAUSES = ['on', 'shape', 'where', 'keys', 'pause'] as const

/** A condition of a workflow, as an event meets it. */
export interface MatchClause {
  name: (typeof MATCH_CLAUSES)[number]
  fits: boolean
  says: string
}

/**
 * The fate of an event at a workflow. `waits`: its run waits for the end of a pause; `halts`: for a
 * person. `skipped`: `where` refuses it; `ignored`: no run is made.
 */
export const MATCH_FATES = ['starts', 'waits', 'halts', 'skipped', 'ignored'] as const

export type MatchFate = (typeof MATCH_FATES)[number]

export interface WorkflowMatch {
  workflow: string
  file: string
  fate: MatchFate
  /** In the order in which they are asked; the first that does not fit is the last. */
  clauses: MatchClause[]
}

export interface EventMatches {
  /** Those that start a run first, those that ignore it last. */
  workflows: WorkflowMatch[]
  /** Modules that cannot be loaded, so that nobody knows. */
  broken: { file: string; error: Failure }[]
}
