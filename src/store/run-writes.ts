import type { Failure } from '../core/errors.ts'
import type { Progress } from '../core/runs/annotations/progress.ts'
import type { Tags } from '../core/runs/annotations/tags.ts'
import type { Recovery } from '../core/runs/blame.ts'
import type { ClaimedRun } from '../core/runs/claim.ts'
import type { Lease } from '../core/runs/lease.ts'
import { describeStale } from '../core/runs/lease.ts'
import type { Successor } from '../core/runs/run.ts'
import type { Checkpoint, PackedOutput, StepFailure } from '../core/runs/step.ts'
import type { EventWait, SavedWithStep } from '../core/runs/wait.ts'
import type { FileBefore } from '../core/safety/effect.ts'
import type { openSharedTables } from './tables/open-shared-tables.ts'
import type { Ending, Park } from './tables/runs/run-table.ts'
import type { Workers } from './tables/runs/workers.ts'
import { isInLedger } from './tables/safety/effect-table.ts'

/** Held runs that one recovery releases at most. */
const MAX_RELEASED = 500

/** Slices of what is decided about long lists that one recovery carries out at most. */
const MAX_SLICES = 4

/** The tables that both databases open, each in its own way where it is other. */
export type Tables = ReturnType<typeof openSharedTables> & { workers: Workers }

/** The writes about runs that take several tables. */
export const RUN_WRITES = {
  /**
   * Takes the runs of dead workers, and blames them: see `decideBlame`. A worker is dead when its
   * process is. A store without process locks goes by silence, for `leaseMs` or a time of its own.
   * `mayJudge`: false where a silence proves nothing. It is asked anew in each attempt.
   */
  async recoverRuns(t: Tables, now: number, leaseMs: number, mayJudge = async () => true): Promise<Recovery> {
    // The process that decided may have died before it carried it out.
    for (let slice = 0; slice < MAX_SLICES && (await carryOutDecision(t, now)) !== null; slice++);
    await t.workflows.releaseForgotten(MAX_RELEASED)
    return (await mayJudge()) ? t.workers.recover(now, leaseMs) : { count: 0, suspects: [], parked: [] }
  },
  /**
   * Ends the run, all its waits, and the wait of the run that invoked it. So do `failRun` and
   * `skipRun`. `handsOn`: a run that gets its slot is claimed for its worker, in the same commit.
   * It is pending where it may not be claimed next.
   */
  async completeRun(
    t: Tables,
    lease: Lease,
    output: string | PackedOutput,
    now: number,
    _handsOn?: boolean,
  ): Promise<ClaimedRun | undefined> {
    const isSmall = typeof output === 'string'
    await endRun(t, lease, { status: 'completed', output: isSmall ? output : null }, now)
    if (!isSmall) await t.outputs.saveOfRun(lease.runId, output)
    return undefined
  },
  /**
   * `followUp` starts `onFailure` as a run of its own, in the same commit. A run of `onFailure`
   * itself gets none.
   */
  async failRun(t: Tables, lease: Lease, error: Failure, now: number, followUp?: boolean): Promise<void> {
    await endRun(t, lease, { status: 'failed', error }, now)
    await t.waits.closeChildren(lease.runId, now)
    await t.runs.noteFailureKind(lease.runId, error)
    if (followUp) await t.runs.followUp(lease.runId, now)
  },
  skipRun: (t: Tables, lease: Lease, reason: string, now: number): Promise<void> =>
    endRun(t, lease, { status: 'skipped', reason }, now),
  /** Ends a run that was only planned, as `completeRun` does. Its output is the plan. */
  async endPlanned(
    t: Tables,
    lease: Lease,
    { reason, plan }: { reason: string; plan: string | PackedOutput },
    now: number,
  ): Promise<void> {
    const isSmall = typeof plan === 'string'
    await endRun(t, lease, { status: 'planned', reason, output: isSmall ? plan : null }, now)
    if (!isSmall) await t.outputs.saveOfRun(lease.runId, plan)
  },
  /**
   * Waits until `dueAt`, for a person (null), or for a step in `awaits`, which may be resolved
   * already. `hasNotStarted`: a later pass sets `startedAt`.
   */
  async parkRun(t: Tables, lease: Lease, park: Park): Promise<void> {
    requireHeld(lease, await t.runs.park(lease, park))
  },
  /** Its code failed outside a step: counts the attempt, and waits until `dueAt`. */
  async postponeRun(t: Tables, lease: Lease, retry: { dueAt: number; error: Failure }): Promise<void> {
    requireHeld(lease, await t.runs.postpone(lease, retry))
  },
  /** Gives the run back unfinished; any worker may claim it at once. */
  async releaseRun(t: Tables, lease: Lease): Promise<void> {
    requireHeld(lease, await t.runs.release(lease))
  },
  /**
   * Adds or updates a step of the run's journal, together with everything in `saved`. `failure` is
   * appended to the step's failed attempts.
   */
  async saveCheckpoint(
    t: Tables,
    lease: Lease,
    checkpoint: Checkpoint,
    failure?: StepFailure,
    saved?: SavedWithStep,
  ): Promise<void> {
    if (saved?.wait) await t.cursors.lockFor([saved.wait])
    if (saved?.cancel) await t.runs.lockTrees([saved.cancel.run])
    requireHeld(lease, await t.runs.lock(lease))
    await t.steps.save(lease.runId, checkpoint, failure)
    if (saved?.packed) await t.outputs.save(lease.runId, checkpoint.key, saved.packed)
    if (saved?.tags) await t.annotations.saveTags(lease.runId, saved.tags)
    if (saved) await t.waits.saveWithStep(lease.runId, checkpoint.key, saved)
    if (isInLedger(checkpoint, saved)) await t.effects.end(lease.runId, checkpoint, saved?.effect)
  },
  /**
   * Notes how a delete that has begun finds its file, right before its request. An attempt that
   * begins again deletes only that.
   */
  async noteSeen(t: Tables, lease: Lease, key: string, seen: FileBefore): Promise<void> {
    requireHeld(lease, await t.runs.lock(lease))
    await t.steps.noteSeen(JSON.stringify(seen), lease.runId, key)
  },
  /** Adds or changes tags of the run, where no step follows that they are written with. */
  async saveTags(t: Tables, lease: Lease, tags: Tags): Promise<void> {
    requireHeld(lease, await t.runs.lock(lease))
    await t.annotations.saveTags(lease.runId, tags)
  },
  /** Replaces the run's word for how far it has come. */
  async saveProgress(t: Tables, lease: Lease, progress: Progress): Promise<void> {
    requireHeld(lease, await t.runs.lock(lease))
    await t.annotations.saveProgress(lease.runId, progress)
  },
  /**
   * Completes the run without an output and makes its successor, in one commit. The successor has
   * its slots at gates, its parent, and the wait of that parent.
   */
  async continueRun(t: Tables, lease: Lease, successor: Successor, now: number): Promise<void> {
    requireHeld(lease, await t.runs.continueAs(lease, successor, now))
    await t.waits.noteWatched(lease.runId, successor.run)
    await t.waits.runEnded(lease.runId, now)
  },
  /**
   * Registers the events that cancel a run. False, and the run is canceled, when one of them has
   * already been matched.
   */
  watchRun: async (t: Tables, lease: Lease, cancels: readonly EventWait[], now: number): Promise<boolean> => {
    await t.cursors.lockFor(cancels)
    await t.runs.lockToEnd([lease.runId])
    return (await t.runs.lock(lease)) && t.waits.watchRun(lease.runId, cancels, now)
  },
  /**
   * Cancels a run and the runs that it invoked; their workers can write nothing more. The rest of
   * many is canceled by `carryOutDecision`. False when it had finished.
   */
  cancelRun: async (t: Tables, runId: string, reason: string, now: number): Promise<boolean> =>
    (await t.waits.cancel(runId, reason, now)).length > 0,
}

async function endRun(t: Tables, lease: Lease, ending: Ending, now: number): Promise<void> {
  requireHeld(lease, await t.runs.end(lease, ending, now))
  await t.waits.runEnded(lease.runId, now)
}

function requireHeld(lease: Lease, isHeld: boolean): void {
  if (!isHeld) throw describeStale(lease)
}

/**
 * Carries out more of a word on a long list, of its end, or of effects that ask again. Returns the
 * runs that it woke; null: nothing is left.
 */
export async function carryOutDecision(t: Tables, now: number): Promise<number | null> {
  return (await t.waits.closeMore(now)) ? 0 : t.decisions.carryOut(now)
}
