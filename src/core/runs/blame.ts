import { MAX_CRASHES } from './lease.ts'

/**
 * The end of a worker. A power cut or a person may have ended its `process`; only author code can
 * have ended its `engine`.
 */
export type WorkerEnd = 'process' | 'engine'

/** A run that was at work when its worker died. */
export interface Suspect {
  /** Deaths at which it alone was at work. */
  crashes: number
  suspicion: number
}

/** Processes that may die with a run among others before it is tried alone. */
export const TRIED_ALONE = 2

type Blame = Suspect & {
  /** It goes on like any other, is tried alone, or waits for a person. */
  kind: 'release' | 'isolate' | 'park'
}

/**
 * Blames the runs of a dead worker. A death counts against a run only if no other run was at work,
 * so no neighbour is ever parked. See decision 36.
 */
export function decideBlame<Run extends Suspect>(suspects: readonly Run[], end: WorkerEnd): (Run & Blame)[] {
  const isAlone = suspects.length === 1
  return suspects.map((run) => {
    const crashes = run.crashes + (isAlone ? 1 : 0)
    const suspicion = end === 'engine' ? TRIED_ALONE : Math.min(run.suspicion + 1, TRIED_ALONE)
    const kind = crashes >= MAX_CRASHES ? 'park' : suspicion >= TRIED_ALONE ? 'isolate' : 'release'
    return { ...run, crashes, suspicion, kind }
  })
}
