import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Route } from '../../core/incoming/route.ts'
import type { Publish } from '../../core/notices.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { type Checkpoint, DEFAULT_MAX_STEPS } from '../../core/runs/step.ts'
import type { GuardPolicy } from '../../core/safety/guard.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { ManualClock } from '../../core/time.ts'
import { type AdmissionStore, admitRun } from '../admit/admit-run.ts'
import { executeRun } from '../execute/execute-run.ts'
import { openPass, type PassParts } from '../execute/open-pass.ts'
import { SHORT_STILL_MS } from '../execute/watch-replay.ts'
import { watchOwnWork } from '../pass/outside/watch-own-work.ts'
import { Parking } from '../pass/parking.ts'
import type { LiveReads, StepStub } from '../pass/step-stub.ts'
import { WaitHints } from '../pass/wait.ts'
import type { FilesFor } from '../worker-parts.ts'

/** Everything that a preview is given of the world. It has no way to write. */
export interface PreviewParts {
  reads: Pick<ReadStore, 'listDeletes' | 'listRunEvents' | 'readOutput'>
  filesFor: FilesFor
  guard: GuardPolicy
  /** Most steps of a run. Default 100,000. */
  maxSteps?: number
  /** Default: our own names. */
  spellingsOf?: (account: string) => StorageSpellings | Promise<StorageSpellings>
  /** Event types and the workflows that they start. Default: none. */
  routes?: () => Promise<readonly Route[]> | readonly Route[]
  /** Default: by the machine's clock, each for 5 minutes. */
  live?: LiveReads
  /** Hears the log lines of the code, and of its steps. Default: nobody. */
  publish?: Publish
}

/** A pass to preview: the run, its code, and the journal that it begins with. */
interface PassToPreview {
  claim: ClaimedRun
  workflow: AnyWorkflow
  known: readonly Checkpoint[]
  /** Stands still but for the preview. */
  clock: ManualClock
  openStub: (control: { parking: Parking; clock: ManualClock }) => StepStub
}

/**
 * Previews one pass of a run by the engine's own code. Its steps are answered by the stub, and
 * nothing is written. Never throws an author's error.
 */
export async function previewPass(parts: PreviewParts, preview: PassToPreview): Promise<RunOutcome> {
  const { claim, workflow, known, clock, openStub } = preview
  const { reads, filesFor, guard, spellingsOf = () => ({}), routes = () => [], publish = () => {} } = parts
  const { maxSteps = DEFAULT_MAX_STEPS } = parts
  const run = claim
  const store = { ...reads, ...memoryStore(claim) }
  const facts = { createdAt: run.createdAt, deadline: null, hasStarted: true, hasSlot: true, isQueueEmpty: true }
  const admission = await admitRun({ store, clock, spellingsOf, cancelOther: () => {} }, run, workflow, facts)
  if (admission.kind !== 'admitted') return admission
  const endWatch = watchOwnWork()
  try {
    const parking = new Parking({ clock, hints: new WaitHints(), listEndedWaits: async () => [] })
    const pass = openPass(
      { store, routes, clock, random: () => 0, publish, guard, maxSteps, stillMs: SHORT_STILL_MS, gatherMs: 0 },
      {
        ...{ run, workflow, known, parking, startedAt: run.startedAt, spellings: admission.facts.spellings },
        tags: admission.tags,
        matcher: { startMatching: () => {}, catchUp: async () => {} },
        abort: new AbortController(),
        stub: openStub({ parking, clock }),
      },
    )
    const outcome = await executeRun(pass, { workflow, cause: admission.cause, filesFor })
    pass.abort.abort(new UpshotError('conflict', 'The preview is over.'))
    return outcome
  } finally {
    endWatch()
  }
}

/** Takes what a pass writes, and forgets it. It gives no permit, so that no effect can begin. */
function memoryStore({
  startedAt,
  folded,
}: ClaimedRun): Omit<PassParts['store'], 'readOutput'> & Pick<AdmissionStore, 'admitRun'> {
  return {
    saveCheckpoint: async () => {},
    saveTags: async () => {},
    saveProgress: async () => {},
    // The run is previewed as one that the limits have let in.
    admitRun: async () => ({ verdict: { kind: 'admitted', startedAt, folded }, canceled: [] }),
    beginEffects: refuseEffects,
    beginPart: refuseEffects,
    reserveEffects: refuseEffects,
    packOutput: async (json) => ({ bytes: Buffer.byteLength(json), data: Buffer.from(json) }),
    findMatch: async () => null,
    findQuestion: async () => null,
    listVotes: async () => [],
    listApprovers: async () => [],
    listApprovalItems: async () => [],
    findRun: async () => null,
    findInvoked: async () => null,
    findSchedule: async () => null,
    listStops: async () => [],
    watchRun: async () => true,
  }
}

async function refuseEffects(): Promise<never> {
  throw new UpshotError('denied', 'A previewed run may not begin an effect.')
}
