import { MAX_CRASHES } from './lease.ts'
import type { RunName } from './run.ts'

/**
 * The end of a worker. A power cut or a person may have ended its `process`; only author code can
 * have ended its `engine`.
 */
export type WorkerEnd = 'process' | 'engine'

/** How code harmed the engine, such as `blocked it at a.workflow.ts:3:5`. */
export interface Harm {
  /** Those whose code was seen to do it; null: nobody saw whose it was. */
  runs: readonly string[] | null
  how: string
}

/** A run that was at work when its worker died. */
export interface Suspect {
  run: string
  /** Deaths at which it alone was at work, or that its code was seen to cause. */
  crashes: number
  suspicion: number
}

/** Suspicion at which a run is tried alone: a process that died adds 1, an engine all of it. */
export const TRIED_ALONE = 2
/** After a death in company, each is alone for this many times as long. */
const MORE_ALONE = 4
/** Deaths that the code of a run was seen to cause before it waits for a person. */
const MAX_SEEN = 2

type Blame = Suspect & {
  /** It goes on like any other, is tried alone, or waits for a person. */
  kind: 'release' | 'isolate' | 'park'
  /** Why it waits for a person; null where it does not. */
  reason: string | null
}

/**
 * Blames the runs of a dead worker: those seen to harm it; all where nobody saw. A death counts
 * against a run only if no other is to blame, so no neighbour is ever parked. See decision 36.
 */
export function decideBlame<Run extends Suspect>(
  atWork: readonly Run[],
  end: WorkerEnd,
  harm: Harm | null = null,
): (Run & Blame)[] {
  const seen = harm?.runs ?? null
  const blamed = seen ? atWork.filter(({ run }) => seen.includes(run)) : atWork
  const most = seen ? MAX_SEEN : MAX_CRASHES
  const how = `${seen ? '' : ', with no other run at work'}${harm ? `: its code ${harm.how}` : ''}`
  return atWork.map((run) => {
    const isBlamed = blamed.includes(run)
    const crashes = run.crashes + (isBlamed && blamed.length === 1 ? 1 : 0)
    const more = isBlamed ? (end === 'engine' ? TRIED_ALONE : 1) : 0
    const suspicion = Math.min(run.suspicion + more, TRIED_ALONE)
    const kind = isBlamed && crashes >= most ? 'park' : suspicion >= TRIED_ALONE ? 'isolate' : 'release'
    const reason = kind === 'park' ? `it ended its worker ${crashes} times${how}` : null
    return { ...run, crashes, suspicion, kind, reason }
  })
}

/** How long a suspect is alone after a death: for longer where several may be to blame for it. */
export function planAlone(
  aloneMs: number,
  { runs, guilty }: { runs: readonly unknown[]; guilty: readonly string[] },
): number {
  return runs.length > 1 && guilty.length === 0 ? aloneMs * MORE_ALONE : aloneMs
}

/** The runs of dead workers, and their fate. */
export interface Recovery {
  /** All of them; each has lost its lease. */
  count: number
  /** Those that are tried alone, because they may have ended their workers. */
  suspects: RunName[]
  /** Those that have, and wait for a person. */
  parked: (RunName & { reason: string })[]
}
