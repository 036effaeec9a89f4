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
import { type Clock, ManualClock, systemClock } from '../../core/time.ts'
import { type AdmissionStore, admitRun } from '../admit/admit-run.ts'
import { executeRun } from '../execute/execute-run.ts'
import { openPass, type PassParts } from '../execute/open-pass.ts'
import { SHORT_STILL_MS } from '../execute/watch-replay.ts'
import { watchOwnWork } from '../pass/outside/watch-own-work.ts'
import { Parking } from '../pass/parking.ts'
import type { LiveReads } from '../pass/step-stub.ts'
import { WaitHints } from '../pass/wait.ts'
import type { FilesFor } from '../worker-parts.ts'
import { failWhenStill } from './fail-when-still.ts'
import { PreviewStub, UNANSWERED } from './preview-stub.ts'
import { type AnswerStep, PREVIEWED_NOTHING, type Previewed, type PreviewedEnd } from './previewed.ts'

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
  /** Real time after which code that awaits what never comes fails. Default 5 s. */
  stillMs?: number
  /** Hears the log lines of the code, and of its steps. Default: nobody. */
  publish?: Publish
}

/** Longest time for the function of a read. */
export const MAX_READ_MS = 5 * 60_000
const LIVE: LiveReads = { clock: systemClock, longestMs: MAX_READ_MS, begin: () => () => {} }

/** The preview at work, as its answers see it. */
export interface PreviewControl {
  /** The time of the preview, which answers move, in epoch milliseconds. */
  now: () => number
  /** Aborts at the end of the preview. */
  signal: AbortSignal
  /** Adds the findings of a run that the step `key` invokes. */
  adopt: (key: string, child: Previewed) => void
}

/** A pass to preview: the run, its code, and what answers its steps. */
interface PassToPreview {
  claim: ClaimedRun
  workflow: AnyWorkflow
  /** The journal that it goes on from, in the same run. Default: it begins as a new one. */
  known?: readonly Checkpoint[]
  answersFor: (control: PreviewControl) => AnswerStep
}

/**
 * Previews one pass of a run by the engine's own code, and gathers what it would do. Nothing is
 * written, and no function of a write or delete is called. Never throws an author's error.
 */
export async function previewPass(
  parts: PreviewParts,
  { claim, workflow, known, answersFor }: PassToPreview,
): Promise<Previewed> {
  const log: Previewed['log'] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'run.log') log.push({ level: notice.level, message: notice.message, facts: notice.facts })
    parts.publish?.(notice)
  }
  // Stands still but for the preview.
  const clock = new ManualClock(claim.startedAt)
  const over = new AbortController()
  const parking = new Parking({ clock, hints: new WaitHints(), listEndedWaits: async () => [] })
  const answerStep = answersFor({
    now: () => clock.now(),
    signal: over.signal,
    adopt: (key, child) => stub.adopt(key, child),
  })
  const stub = new PreviewStub({ parking, clock, answerStep, live: parts.live ?? LIVE })
  // Its keys are asked for again: one that throws keeps the run from starting.
  const run = known ? claim : { ...claim, codeHash: null, isAdmitted: false }
  const outcome = await execute({ ...parts, publish }, { run, workflow, known: known ?? [], clock, parking, stub })
  over.abort()
  const { open, lastRead, effects, others } = stub
  const end = open && isUnanswered(outcome) ? open : describeEnd(outcome, lastRead)
  return { ...PREVIEWED_NOTHING, end, effects, others, log }
}

interface Executed {
  run: ClaimedRun
  workflow: AnyWorkflow
  known: readonly Checkpoint[]
  clock: Clock
  parking: Parking
  stub: PreviewStub
}

async function execute(
  { reads, filesFor, spellingsOf = () => ({}), routes = () => [], publish = () => {}, ...parts }: PreviewParts,
  { run, workflow, known, clock, parking, stub }: Executed,
): Promise<RunOutcome> {
  const { guard, maxSteps = DEFAULT_MAX_STEPS } = parts
  const store = { ...reads, ...memoryStore(run) }
  const isUnderWay = known.length > 0
  const seen = { createdAt: run.createdAt, deadline: null }
  const facts = { ...seen, hasStarted: true, isUnderWay, hasSlot: true, isQueueEmpty: true }
  const admission = await admitRun({ store, clock, spellingsOf, cancelOther: () => {} }, run, workflow, facts)
  if (admission.kind !== 'admitted') return admission
  const endWatch = watchOwnWork()
  try {
    const pass = openPass(
      { store, routes, clock, random: () => 0, publish, guard, maxSteps, stillMs: SHORT_STILL_MS, gatherMs: 0 },
      {
        run,
        workflow,
        known,
        parking,
        stub,
        startedAt: run.startedAt,
        spellings: admission.facts.spellings,
        tags: admission.tags,
        matcher: { startMatching: () => {}, catchUp: async () => {} },
        abort: new AbortController(),
      },
    )
    const still = failWhenStill(pass, () => stub.isAnswering, parts.stillMs)
    const executed = executeRun(pass, { workflow, cause: admission.cause, filesFor })
    const outcome = await Promise.race([executed, still.outcome]).finally(still.stop)
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
}: ClaimedRun): Omit<PassParts['store'], 'readOutput'> & Pick<AdmissionStore, 'admitRun' | 'hasNewerFolded'> {
  return {
    saveCheckpoint: async () => {},
    saveTags: async () => {},
    saveProgress: async () => {},
    // The run is previewed as one that the limits have let in.
    admitRun: async () => ({ verdict: { kind: 'admitted', startedAt, folded }, canceled: [] }),
    hasNewerFolded: async () => false,
    beginEffects: refuseEffects,
    beginPart: refuseEffects,
    noteSeen: refuseEffects,
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

function isUnanswered(outcome: RunOutcome): boolean {
  return outcome.kind === 'parked' && (outcome.reason === UNANSWERED || outcome.dueAt !== null)
}

/** `lastRead`: the step whose real read failed, where a worker would try it again later. */
function describeEnd(outcome: RunOutcome, lastRead: string | null): PreviewedEnd {
  switch (outcome.kind) {
    case 'completed':
      return { kind: 'completed', output: typeof outcome.output === 'string' ? outcome.output : unpack(outcome.output) }
    case 'continued':
      return { kind: 'continued', input: outcome.successor.input }
    case 'failed':
    case 'retry':
      return { kind: 'failed', error: outcome.error }
    case 'skipped':
      return { kind: 'skipped', reason: outcome.reason }
    case 'expired':
      return { kind: 'failed', error: { name: 'Error', message: outcome.reason } }
    case 'parked':
      if (outcome.dueAt === null && !outcome.awaits?.length) return { kind: 'halted', reason: outcome.reason }
      return { kind: 'open', step: lastRead ?? '', reason: outcome.reason }
    case 'canceled':
    case 'lost':
    case 'released':
    case 'queued':
    case 'ready':
    case 'planned':
      throw new Error(`A preview cannot end as ${outcome.kind}.`)
    default:
      return outcome satisfies never
  }
}

/** A preview packs nothing: its store keeps the text. */
function unpack({ data }: { data: Uint8Array }): string {
  return Buffer.from(data).toString()
}
