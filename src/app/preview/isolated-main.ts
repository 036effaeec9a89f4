import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { WorkflowMatch } from '../../core/incoming/event-match.ts'
import type { Publish } from '../../core/notices.ts'
import { readWorkflowGuard } from '../../core/safety/guard-schema.ts'
import { ManualClock, systemClock } from '../../core/time.ts'
import { gatherEventFacts } from '../../engine/admit/gather-event-facts.ts'
import { matchEvent } from '../../engine/admit/match-event.ts'
import { catchStrayErrors } from '../../engine/pass/catch-stray-errors.ts'
import type { LiveReads } from '../../engine/pass/step-stub.ts'
import { compareSides } from '../../engine/preview/compare/compare-sides.ts'
import { sideOfPreview } from '../../engine/preview/compare/run-side.ts'
import { MAX_READ_MS } from '../../engine/preview/preview-pass.ts'
import { type PreviewRules, previewRun } from '../../engine/preview/preview-run.ts'
import type { Previewed } from '../../engine/preview/previewed.ts'
import type { LoadOptions, SkippedModule } from '../../project/workflows/load-workflows.ts'
import { WorkflowSet } from '../../project/workflows/workflow-set.ts'
import { serveParent } from './child/link.ts'
import { isolationHooks } from './hooks/isolation-hooks.ts'
import {
  describeMissing,
  type IsolatedSettings,
  type LoadedCode,
  type PreviewedJob,
  type PreviewJob,
} from './isolated-process.ts'
import { PlannedFiles } from './planned-files.ts'

/** The author's code, once the parent has named its folder. */
let code: { set: WorkflowSet; settings: IsolatedSettings; broken: LoadedCode['broken'] } | null = null

/** Tells the parent that a read is at work, and that no code blocks this process meanwhile. */
const PULSE_MS = 1_000
let reads = 0
setInterval(() => reads > 0 && link.tell('pulse'), PULSE_MS).unref()

/** Time goes on for reads, while the clocks of previews stand still. */
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

const link = serveParent({ load, preview, match }, { send: isolationHooks.send, gone: () => isolationHooks.exit(0) })

async function load(settings: IsolatedSettings, skipped: SkippedModule[]): Promise<LoadedCode> {
  if (settings.trustsReads) isolationHooks.trustReads()
  const broken: LoadedCode['broken'] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'workflow.broken') broken.push({ file: notice.file, error: notice.error })
  }
  const onLoading: LoadOptions['onLoading'] = (module) => link.tell('loading', module)
  const set = await WorkflowSet.load(settings.workflowsDir, publish, { skipped, onLoading })
  code = { set, settings, broken }
  const hashes = set.codeHashes
  const workflows = set.describe().workflows.map(({ id, file, eventTypes, schedule, input = null }) => ({
    id,
    file,
    codeHash: hashes[id] ?? '',
    guard: readWorkflowGuard(set.find(id) ?? {}),
    input,
    starts: { eventTypes, schedule, limits: describeLimits(set.find(id) ?? {}) },
  }))
  return { workflows, broken }
}

/** Limits on runs as text, functions with their code. */
function describeLimits({ concurrency, throttle, singleton, batch, debounce, timeout }: Partial<AnyWorkflow>): string {
  const limits = { concurrency, throttle, singleton, batch, debounce, startWithin: timeout?.start }
  return JSON.stringify(limits, (_, value) => (typeof value === 'function' ? String(value) : value))
}

async function preview(jobs: readonly PreviewJob[], rules: PreviewRules): Promise<PreviewedJob[]> {
  const { set, settings } = requireCode()
  const parts = openParts(settings)
  return Promise.all(
    jobs.map(async ({ isTwice = false, ...job }): Promise<PreviewedJob> => {
      const { lease, workflow: id } = job.claim
      const workflow = set.find(id)
      if (workflow === undefined)
        throw new UpshotError('not_found', `In the workflows folder, ${describeMissing(id, requireCode())}.`)
      const runs = [lease.runId]
      const once = () => {
        const files = new PlannedFiles(ask('readFiles'), { isNew: job.steps.length === 0 })
        const world = { ...parts, files, filesFor: files.filesFor, onInvoked: (run: string) => runs.push(run) }
        return previewRun(world, workflow, job, rules)
      }
      const previewed = await once()
      const isSteady = !isTwice || areAlike(previewed, await once())
      const sent = rules.plans ? previewed : { ...previewed, others: [], log: [] }
      return { ...sent, isSteady, undeclared: runs.flatMap(isolationHooks.takeRefused) }
    }),
  )
}

function areAlike(one: Previewed, other: Previewed): boolean {
  const verdict = compareSides(sideOfPreview(one), sideOfPreview(other), { withOutputs: true })
  return verdict.kind !== 'differs' && one.end.kind === other.end.kind
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

/** The world as the parent lets this process see it. */
function openParts({ guard, maxSteps, spellings }: IsolatedSettings) {
  return {
    reads: { listDeletes: ask('listDeletes'), listRunEvents: ask('listRunEvents'), readOutput: ask('readOutput') },
    spellingsOf: (account: string) => spellings[account] ?? {},
    guard,
    live,
    borrow: ask('borrow'),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    findWorkflow: (id: string) => requireCode().set.find(id),
  }
}

/** A function of the parent. */
function ask(name: string) {
  return (...given: unknown[]) => link.call<never>(name, ...given)
}

function requireCode(): NonNullable<typeof code> {
  if (code === null) throw new Error('The isolated process has loaded no code.')
  return code
}

// An error that nothing awaits fails its own run only, as in a worker. A refused call is named.
catchStrayErrors(
  () => {},
  (error) => error instanceof UpshotError && error.code === 'undeclared_effect',
)
