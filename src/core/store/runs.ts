import type { Failure } from '../errors.ts'
import type { EventRecord } from '../incoming/event.ts'
import type { AdmissionAnswer, AdmissionPlan } from '../runs/admission.ts'
import type { ClaimedRun, Recording } from '../runs/claim.ts'
import type { FailureGroup, FailureState } from '../runs/failures/failure-group.ts'
import type { Lease } from '../runs/lease.ts'
import type { Run, RunFilter, Successor } from '../runs/run.ts'
import type { PackedOutput } from '../runs/step.ts'
import type { Tags } from '../runs/told/tags.ts'
import type { SearchPart, SearchSlice } from './search.ts'

export interface RunWrites {
  /**
   * Claims up to `limit` due runs for `worker`: those that waited first, then by priority and age.
   */
  claimRuns(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Claims up to `limit` suspects: runs that may have ended their workers. The other claims leave
   * them out.
   */
  claimSuspects(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Decides whether a run goes on, queues, is skipped or is folded, and writes that. A freed place
   * goes to the first run in line in the commit that frees it.
   */
  admitRun(lease: Lease, plan: AdmissionPlan, now: number): Promise<AdmissionAnswer>
  /**
   * Claims limited runs that are not admitted yet, oldest first. They need no slot, because most
   * only join a line.
   */
  claimUnadmittedRuns(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Ends the run, all its waits, and the wait of the run that invoked it. So do `failRun` and
   * `skipRun`. `handsOn`: a run that gets its place is claimed for its worker, in the same commit.
   * It is pending where it may not be claimed next.
   */
  completeRun(
    lease: Lease,
    output: string | PackedOutput,
    now: number,
    handsOn?: boolean,
  ): Promise<ClaimedRun | undefined>
  /**
   * `followUp` starts `onFailure` as a run of its own, in the same commit. A run of `onFailure`
   * itself gets none.
   */
  failRun(lease: Lease, error: Failure, now: number, followUp?: boolean): Promise<void>
  skipRun(lease: Lease, reason: string, now: number): Promise<void>
  /** Ends a run that was only planned, as `completeRun` does. Its output is the plan. */
  endPlanned(lease: Lease, planned: { reason: string; plan: string | PackedOutput }, now: number): Promise<void>
  /**
   * Completes the run without an output and makes its successor, in one commit. The successor has
   * its places at gates, its parent, and the wait of that parent.
   */
  continueRun(lease: Lease, successor: Successor, now: number): Promise<void>
  /**
   * Waits until `dueAt`, for a person (null), or for a step in `awaits`, which may be resolved
   * already. `hasNotStarted`: a later pass sets `startedAt`.
   */
  parkRun(
    lease: Lease,
    park: { dueAt: number | null; reason: string; awaits?: readonly string[]; hasNotStarted?: boolean },
  ): Promise<void>
  /** Its code failed outside a step: counts the attempt, and waits until `dueAt`. */
  postponeRun(lease: Lease, retry: { dueAt: number; error: Failure }): Promise<void>
  /** Gives the run back unfinished; any worker may claim it at once. */
  releaseRun(lease: Lease): Promise<void>
}

/** Selects failed runs; every part narrows. */
export type FailureFilter = Pick<RunFilter, 'workflow' | 'since' | 'until' | 'error' | 'step' | 'tags'>

/** A run that failed. */
export interface EndedFailure {
  run: string
  workflow: string
  /** Epoch milliseconds. */
  finishedAt: number
  error: Failure
  tags: Tags
}

/** A kind of failure, and a moment in epoch milliseconds. */
export interface FailureKindSince {
  id: string
  since: number
}

/** A place in the order of ends: a moment in epoch milliseconds, and a run. */
export interface EndMark {
  at: number
  run: string
}

/** Most runs that a count goes up to; it stands for "more than 100,000". */
export const MAX_COUNTED = 100_001

/** Runs that somebody may have to look at. Counts stop at {@link MAX_COUNTED}. */
export interface OpenRuns {
  pending: number
  running: number
  waiting: number
  /** The waiting ones that only a person lets go on. */
  forPerson: number
  /**
   * Failed runs that no person has resolved, and whose kind nobody has resolved since, nor snoozed
   * for longer. One that is retried counts again only if it fails again.
   */
  openFailures: number
  /** When the oldest pending run was made, in epoch milliseconds; null: none is pending. */
  oldestPendingAt: number | null
}

export interface RunReads {
  /**
   * Newest first. Reads until `limit` runs match, which may be every run: for a filter of a person
   * use `searchRuns`.
   */
  listRuns(query: RunFilter & { limit: number }): Promise<Run[]>
  /** One slice of the runs that match; `searchPage` joins slices. */
  searchRuns(filter: RunFilter, slice: SearchSlice): Promise<SearchPart<Run>>
  /** The failed runs of one slice by kind, whatever its `limit`; see `mergeFailureGroups`. */
  groupFailures(filter: FailureFilter, slice: SearchSlice): Promise<SearchPart<FailureGroup>>
  /** Failed runs that ended behind `after` and before `until`, by their ends; no resolved ones. */
  listEndedFailures(query: { after: EndMark; until: number; limit: number }): Promise<EndedFailure[]>
  /** The verdicts of persons on kinds of failures. */
  listFailureStates(groups: readonly string[]): Promise<FailureState[]>
  /** The kinds of which no failure is open, and persons have resolved one or all since then. */
  listSettledFailures(kinds: readonly FailureKindSince[]): Promise<string[]>
  findRun(id: string): Promise<Run | null>
  /** The run that a step waits for, or the newest of its chain; null for no such wait. */
  findInvoked(runId: string, key: string): Promise<Run | null>
  /**
   * Runs with their journals and all that their code was given, in the order of these ids; nothing
   * is claimed. Unknown ids are left out.
   */
  readRecordings(runIds: readonly string[]): Promise<Recording[]>
  /** Keys of the steps whose wait an event, another run or people have ended. */
  listEndedWaits(runId: string): Promise<string[]>
  /** Ids that begin so, oldest first. */
  listRunIds(beginning: string, limit: number): Promise<string[]>
  /** The run's own event and those of runs folded into it, in the order of arrival. */
  listRunEvents(runId: string): Promise<EventRecord[]>
  /** Whether a run waits to be tried alone. */
  hasSuspects(): Promise<boolean>
  /**
   * A run that a worker may claim now, whatever slots it has; null: none. Runs of paused workflows,
   * suspects, and runs that only other workers at work have the code of are left out.
   */
  findClaimable(worker: string, now: number): Promise<string | null>
  /** Earliest `dueAt` of the waiting runs; null when there is none. */
  nextDueAt(): Promise<number | null>
  countOpenRuns(now: number): Promise<OpenRuns>
}

/** Most runs before and after a run that its chain is read to. */
const MAX_LINKS = 50

/**
 * The runs that go on in each other's place, oldest first, with up to 50 before and after this one.
 * Empty where the run neither continues another one nor is continued.
 */
export async function readChain(store: Pick<RunReads, 'findRun'>, run: Run): Promise<Run[]> {
  const before = await follow(store, run, ({ origin, originRun }) => (origin === 'continue' ? originRun : null))
  const after = await follow(store, run, ({ continuedBy }) => continuedBy)
  return before.length + after.length === 0 ? [] : [...before.toReversed(), run, ...after]
}

async function follow(store: Pick<RunReads, 'findRun'>, from: Run, next: (run: Run) => string | null): Promise<Run[]> {
  const found: Run[] = []
  let link = next(from)
  while (link !== null && found.length < MAX_LINKS) {
    const run: Run | null = await store.findRun(link)
    // Retention removes the oldest runs of a chain.
    if (!run) break
    found.push(run)
    link = next(run)
  }
  return found
}
