import { describeTrigger, planRoutes } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { WorkflowMatch } from '../../core/incoming/event-match.ts'
import { planRuns } from '../../core/incoming/route.ts'
import type { Publish } from '../../core/notices.ts'
import type { ClaimedRun, Recording } from '../../core/runs/claim.ts'
import { readWorkflowGuard } from '../../core/safety/guard-schema.ts'
import { ManualClock, systemClock } from '../../core/time.ts'
import { gatherEventFacts } from '../../engine/admit/gather-event-facts.ts'
import { matchEvent } from '../../engine/admit/match-event.ts'
import { catchStrayErrors } from '../../engine/pass/catch-stray-errors.ts'
import type { LiveReads } from '../../engine/pass/stage.ts'
import { compareSides } from '../../engine/play/compare/compare-sides.ts'
import { sideOfPlay } from '../../engine/play/compare/side-of-play.ts'
import type { AnswerRules } from '../../engine/play/compose-answers.ts'
import { fitRecording } from '../../engine/play/fit-recording.ts'
import type { PlayParts } from '../../engine/play/play-pass.ts'
import { playRecorded } from '../../engine/play/play-recorded.ts'
import { MAX_READ_MS } from '../../engine/play/play-run.ts'
import { wrapCalls } from '../../files/wrap-calls.ts'
import type { LoadOptions, SkippedModule } from '../../project/workflows/load-workflows.ts'
import { WorkflowSet } from '../../project/workflows/workflow-set.ts'
import { serveParent } from './child/serve-parent.ts'
import { roomHooks } from './hooks/room-hooks.ts'
import { PlannedFiles } from './planned-files.ts'
import { type PlanRequest, playPlan } from './play-plan.ts'
import type { LoadedCode, PlayedJob, PlayJob, RoomFit, RoomPlan, RoomSettings } from './room.ts'
import { type FileCoverage, startCoverage } from './start-coverage.ts'

/** The author's code, once the parent has named its folder. */
let code: { set: WorkflowSet; settings: RoomSettings; broken: LoadedCode['broken'] } | null = null

/** Tells the parent that a read is at work, and that no code blocks this process meanwhile. */
const PULSE_MS = 1_000
let reads = 0
setInterval(() => reads > 0 && link.tell('pulse'), PULSE_MS).unref()

/** Time goes on for reads, while the clocks of plays stand still. */
const live: LiveReads = {
  clock: systemClock,
  longestMs: MAX_READ_MS,
  begin: () => {
    reads += 1
    return () => {
      reads -= 1
    }
  },
}

const link = serveParent(
  { load, fit, plan, match, playAll, readLines },
  { send: roomHooks.send, gone: () => roomHooks.exit(0) },
)

let takeLines: () => Promise<FileCoverage[]> = async () => []

function readLines(): Promise<FileCoverage[]> {
  return takeLines()
}

async function load(settings: RoomSettings, skipped: SkippedModule[]): Promise<LoadedCode> {
  if (settings.notesLines) takeLines = await startCoverage(roomHooks.connectInspector)
  if (settings.trustsReads) roomHooks.trustReads()
  const broken: LoadedCode['broken'] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'workflow.broken') broken.push({ file: notice.file, error: notice.error })
  }
  const onLoading: LoadOptions['onLoading'] = (module) => link.tell('loading', module)
  const set = await WorkflowSet.load(settings.workflowsDir, publish, { skipped, onLoading })
  code = { set, settings, broken }
  const hashes = set.codeHashes
  const workflows = set.describe().workflows.map(({ id, file, eventTypes, schedule, input = null }) => ({
    ...{ id, file, codeHash: hashes[id] ?? '' },
    guard: readWorkflowGuard(set.find(id) ?? {}),
    input,
    starts: { eventTypes, schedule, limits: describeLimits(set.find(id) ?? {}) },
  }))
  return { workflows, broken, undeclared: roomHooks.takeRefused(null) }
}

/** Limits on runs as text, functions with their code. */
function describeLimits({ concurrency, throttle, singleton, batch, debounce, timeout }: Partial<AnyWorkflow>): string {
  const limits = { concurrency, throttle, singleton, batch, debounce, startWithin: timeout?.start }
  return JSON.stringify(limits, (_, value) => (typeof value === 'function' ? String(value) : value))
}

async function fit(recording: Recording, now: number): Promise<RoomFit> {
  const { set, settings } = requireCode()
  const workflow = set.find(recording.claim.workflow)
  if (workflow === undefined)
    return { kind: 'halts', reason: describeMissing(recording.claim.workflow), undeclared: [] }
  const parts = openParts(settings)
  const found = await fitRecording(parts, { recording, workflow, now })
  return { ...found, undeclared: roomHooks.takeRefused(recording.run.id) }
}

async function plan(request: PlanRequest): Promise<RoomPlan> {
  const { set, settings } = requireCode()
  const { claim } = request
  const workflow = set.find(claim.workflow)
  if (workflow === undefined)
    throw new UpshotError('not_found', `In the workflows folder, ${describeMissing(claim.workflow)}.`)
  requireTrigger(claim, workflow)
  const runs = [claim.lease.runId]
  const planned = await playPlan(
    {
      parts: openParts(settings),
      findWorkflow: (id) => set.find(id),
      readFiles: (account, operation, given) => link.call('readFiles', account, operation, given),
      onInvoked: (run) => runs.push(run),
      borrow: (id, step) => link.call('borrow', id, step),
    },
    workflow,
    request,
  )
  return { ...planned, undeclared: runs.flatMap(roomHooks.takeRefused) }
}

/** Asks all workflows about an event. One of a delete that is under way counts as not our own. */
async function match(event: EventRecord, now: number): Promise<WorkflowMatch[]> {
  const { set, settings } = requireCode()
  const { reads, spellingsOf } = openParts(settings)
  const parts = { store: reads, clock: new ManualClock(now), spellingsOf }
  const facts = await gatherEventFacts({ cause: { kind: 'event', event } }, parts)
  const known = 'kind' in facts ? { isSelfCaused: false, spellings: settings.spellings[event.account] ?? {} } : facts
  return set.describe().workflows.flatMap(({ id, file }) => {
    const workflow = set.find(id)
    return workflow === undefined ? [] : [{ workflow: id, file, ...matchEvent(workflow, event, known) }]
  })
}

/** Plays many runs of one workflow at once: a message and a turn of the loop serve them all. */
async function playAll(id: string, jobs: readonly PlayJob[], rules: AnswerRules): Promise<PlayedJob[]> {
  const { set, settings } = requireCode()
  const workflow = set.find(id)
  if (workflow === undefined) throw new UpshotError('not_found', `In the workflows folder, ${describeMissing(id)}.`)
  const parts = openParts(settings)
  const play = (job: PlayJob) => {
    const files = new PlannedFiles((account, operation, given) => link.call('readFiles', account, operation, given))
    const own: PlayParts = { ...parts, filesFor: (account, wrap) => files.filesFor(account, wrap) }
    return playRecorded(own, workflow, job, { rules, files })
  }
  return Promise.all(
    jobs.map(async (job): Promise<PlayedJob> => {
      const played = await play(job)
      const isSteady = !job.isTwice || areAlike(played, await play(job))
      return { ...played, isSteady, undeclared: roomHooks.takeRefused(job.claim.lease.runId) }
    }),
  )
}

type Ended = Awaited<ReturnType<typeof playRecorded>>

function areAlike(one: Ended, other: Ended): boolean {
  const verdict = compareSides(sideOfPlay(one), sideOfPlay(other), { withOutputs: true })
  return verdict.kind !== 'differs' && one.end.kind === other.end.kind
}

/** Throws where no such event starts runs of this workflow. */
function requireTrigger({ cause }: ClaimedRun, workflow: AnyWorkflow): void {
  if (cause.kind !== 'event' || planRuns(cause.event.type, planRoutes(workflow)).length > 0) return
  const on = describeTrigger(workflow)
  throw new UpshotError('invalid_request', `"${workflow.id}" does not run on ${cause.event.type}: it runs on ${on}.`)
}

function describeMissing(workflow: string): string {
  const faults = requireCode().broken.map(({ file, error }) => `${file} cannot be loaded (${error.message})`)
  return [`no module defines the workflow "${workflow}"`, ...faults].join('; ')
}

/** The world as the parent lets this process see it. */
function openParts({ guard, maxSteps, spellings }: RoomSettings): PlayParts & Required<Pick<PlayParts, 'spellingsOf'>> {
  const ask =
    (name: string) =>
    (...given: unknown[]) =>
      link.call<never>(name, ...given)
  return {
    reads: { listDeletes: ask('listDeletes'), listRunEvents: ask('listRunEvents'), readOutput: ask('readOutput') },
    filesFor: refuseAll,
    spellingsOf: (account) => spellings[account] ?? {},
    guard,
    ...(maxSteps === undefined ? {} : { maxSteps }),
    live,
  }
}

const refuseAll: PlayParts['filesFor'] = (_account, wrap) => wrapCalls(refuseFiles, wrap, () => {})

function refuseFiles(): never {
  throw new Error('This play has no Files client.')
}

function requireCode(): NonNullable<typeof code> {
  if (code === null) throw new Error('The room has loaded no code.')
  return code
}

// An error that nothing awaits fails its own run only, as in a worker. A refused call is named.
catchStrayErrors(
  () => {},
  (error) => error instanceof UpshotError && error.code === 'undeclared_effect',
)
