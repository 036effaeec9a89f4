import type { Failure } from '../errors.ts'
import type { EventRecord } from '../incoming/event.ts'
import type { AdmissionAnswer, AdmissionPlan } from '../runs/admission.ts'
import type { ClaimedRun } from '../runs/claim.ts'
import type { Lease } from '../runs/lease.ts'
import type { Run, RunFilter } from '../runs/run.ts'
import type { PackedOutput } from '../runs/step.ts'

export interface RunWrites {
  /**
   * Runs that are due, those that waited first, then by priority and age; each now belongs to
   * `worker`.
   */
  claimRuns(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /**
   * Decides whether a run may go on now, waits for its turn, or joins another one, and writes that.
   * Whoever's turn comes when a run ends or waits is let in by the commit that says so.
   */
  admitRun(lease: Lease, plan: AdmissionPlan, now: number): Promise<AdmissionAnswer>
  /**
   * Limited runs that nobody has looked at yet, oldest first; they need no slot, because most are
   * only put in line.
   */
  claimUnadmittedRuns(worker: string, limit: number, now: number): Promise<ClaimedRun[]>
  /** However a run ends, it waits for nothing any more, and the run that invoked it goes on. */
  completeRun(lease: Lease, output: string | PackedOutput, now: number): Promise<void>
  /**
   * `followUp`: starts the workflow's `onFailure` as a run of its own in the same commit, unless
   * this run is such a one itself.
   */
  failRun(lease: Lease, error: Failure, now: number, followUp?: boolean): Promise<void>
  skipRun(lease: Lease, reason: string, now: number): Promise<void>
  /**
   * The run waits until `dueAt`, or for a person (null). With `awaits`, the keys of steps that wait
   * for an event or a run, it goes on when one of them is resolved, and at once where that has
   * happened already. `hasNotStarted`: its own clock starts with a later pass.
   */
  parkRun(
    lease: Lease,
    park: { dueAt: number | null; reason: string; awaits?: readonly string[]; hasNotStarted?: boolean },
  ): Promise<void>
  /** Its code failed outside a step: counts the attempt and waits until `dueAt`. */
  postponeRun(lease: Lease, retry: { dueAt: number; error: Failure }): Promise<void>
  /** Gives the run back unfinished, to be claimed by anyone at once. */
  releaseRun(lease: Lease): Promise<void>
}

export interface RunReads {
  /** `account` says whose event `eventId` is; every account's without it. */
  listRuns(query: RunFilter & { limit: number }): Promise<Run[]>
  findRun(id: string): Promise<Run | null>
  /**
   * The run's own event and those of the runs that it has absorbed, in the order in which they
   * came.
   */
  listRunEvents(runId: string): Promise<EventRecord[]>
  /** When the next waiting run is due; null when none is. */
  nextDueAt(): Promise<number | null>
}
