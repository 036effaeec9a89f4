import { describeTrigger, planRoutes, scheduleOf } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import { asPreviewed } from '../../core/incoming/hook.ts'
import { planRuns } from '../../core/incoming/route.ts'
import type { JsonValue } from '../../core/json.ts'
import type { NoticeOf, Publish } from '../../core/notices.ts'
import { accountOf, type ClaimedRun, rootOf } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { LINK, MAX_DEPTH } from '../../core/runs/wait.ts'
import { readWorkflowGuard } from '../../core/safety/guard-schema.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { GuardUse } from '../../core/store/effects.ts'
import { computeDeadline, describeOverdue } from '../pass/deadline.ts'
import type { RunSide } from './compare/deed.ts'
import { type AnswerParts, type AnswerRules, completed, composeAnswers } from './compose-answers.ts'
import { findHeld } from './find-held.ts'
import { type PreviewControl, type PreviewParts, previewPass } from './preview-pass.ts'
import {
  type Answer,
  type AnswerStep,
  PREVIEWED_NOTHING,
  type Previewed,
  type PreviewedEnd,
  type Unstarted,
} from './previewed.ts'

export interface RecordedRun {
  claim: ClaimedRun
  /** Those that answer first. */
  steps: readonly Checkpoint[]
  /** The run that recorded them, where it is another one. */
  of?: string
  /** All else that its code was given; absent where a store has it. */
  given?: GivenFacts
}

/** The facts that a preview asks a store for. */
interface GivenFacts {
  /** Its events: more than one in a run of a batch. */
  events: EventRecord[]
  /** Deletes that tell whether its event is self-caused. */
  deletes: Checkpoint[]
  spellings: StorageSpellings
}

/** A recorded run that needs no store: every result is in its row. */
export interface WholeRun extends RecordedRun {
  given: GivenFacts
}

export interface TestedFile extends WholeRun {
  /** Hash of the code that made it; null where that is not known. */
  codeHash: string | null
  /** Results that the run never got, by the key of their step. A person adds them by hand. */
  answers?: { readonly [step: string]: JsonValue }
  /** The preview of it when its test was written. */
  did?: RunSide
}

export interface PreviewRules extends AnswerRules {
  /**
   * As plans: the runs that they invoke are previewed too, and the guard is asked. Default: not.
   */
  plans?: {
    /** The counters of the guard now. */
    use: readonly GuardUse[]
    /** False: the result of another run's step ends the plan. */
    borrows: boolean
  }
  /** Up to the end of their journals, as a pass at this moment. Default: to their own end. */
  journalAt?: number
}

/** How a test previews its run: on what the file has, and no function of a step is called. */
export function rulesOfTest({ answers = {} }: Pick<TestedFile, 'answers'>): PreviewRules {
  return { readsLive: false, fixtures: answers, endsWhereHeld: true }
}

/** The result of another run's step. */
export interface Borrowed {
  output: string
  run: string
}

/** The world of a preview; only plans ask for the workflows and results of other runs. */
interface PreviewWorld extends PreviewParts, Pick<AnswerParts, 'files'> {
  /** Default: there is no other. */
  findWorkflow?: (id: string) => AnyWorkflow | undefined
  /** Hears the id of each run that is invoked. */
  onInvoked?: (run: string) => void
  /** Default: no run has one. */
  borrow?: (workflow: string, step: Pick<Checkpoint, 'key' | 'kind' | 'effect'>) => Promise<Borrowed | null>
}

/** Previews this code on what a run has recorded, a new one on nothing. No effect happens. */
export async function previewRun(
  world: PreviewWorld,
  workflow: AnyWorkflow,
  recorded: RecordedRun,
  rules: PreviewRules,
): Promise<Previewed> {
  const { claim, given } = recorded
  if (rules.journalAt !== undefined) return previewJournal(world, workflow, recorded, rules.journalAt)
  const unstarted = findUnstarted(workflow, claim)
  if (unstarted !== null) {
    return { ...PREVIEWED_NOTHING, unstarted, end: { kind: 'skipped', reason: `it runs on ${unstarted.on}` } }
  }
  const own = given && {
    reads: { ...world.reads, listRunEvents: async () => given.events, listDeletes: async () => given.deletes },
    spellingsOf: () => given.spellings,
  }
  const previewed = await replay({ ...world, ...own }, workflow, recorded, rules)
  if (rules.plans === undefined) return previewed
  const source = { runId: claim.lease.runId, workflow: workflow.id, account: accountOf(claim.cause) }
  const guard = { limits: world.guard.limits, own: readWorkflowGuard(workflow), source, use: rules.plans.use }
  // A plan is of what would happen: what the journal has is done.
  const effects = previewed.effects.filter((effect) => effect.source !== 'recorded')
  return { ...previewed, effects, held: findHeld(effects, guard) }
}

function replay(
  world: PreviewWorld,
  workflow: AnyWorkflow,
  { claim, steps, of = claim.lease.runId }: RecordedRun,
  rules: PreviewRules,
): Promise<Previewed> {
  const readOutput = (key: string) => world.reads.readOutput(of, key)
  const { files } = world
  return previewPass(world, {
    claim,
    workflow,
    answersFor: (control) => {
      const more = rules.plans && {
        before: previewInvoked(world, claim, rules, control),
        after: borrowResult(world, claim, rules, control),
      }
      const missing = rules.endsWhereHeld && { after: explainMissing }
      return composeAnswers({ rules, steps, readOutput, ...(files && { files }), ...missing, ...more }, control)
    },
  })
}

/** Names the line of a test that answers a step of changed code. */
const explainMissing: AnswerStep = ({ key, kind }) => {
  if (kind !== 'run') return null
  throw new Error(`it is not recorded; add "answers": { ${JSON.stringify(key)}: … } to the file of the run`)
}

/** The result of another run. That of a read or a delete is about another file, or another day. */
function borrowResult(
  { borrow }: PreviewWorld,
  { workflow }: ClaimedRun,
  { plans, readsLive }: PreviewRules,
  { now }: PreviewControl,
): AnswerStep {
  return async ({ key, kind, effect }) => {
    const isOfFiles = effect === 'read' || effect === 'delete'
    if (kind !== 'run' || !plans?.borrows || (isOfFiles && !readsLive)) return null
    const found = await borrow?.(workflow, { key, kind, effect })
    // Its hooks are those of the other run.
    return found ? { ...completed('borrowed', asPreviewed(found.output), now()), from: found.run } : null
  }
}

/** Previews the run that a step invokes. Where the end of that is open, so is the step. */
function previewInvoked(
  world: PreviewWorld,
  claim: ClaimedRun,
  rules: PreviewRules,
  control: PreviewControl,
): AnswerStep {
  return async (step, { invoke }): Promise<Answer | null> => {
    const workflow = invoke && world.findWorkflow?.(invoke.workflow)
    if (!invoke || !workflow || claim.depth + LINK > MAX_DEPTH) return null
    const { run, account, input, createdAt } = invoke
    world.onInvoked?.(run)
    const child: ClaimedRun = {
      ...claim,
      lease: { ...claim.lease, runId: run },
      workflow: workflow.id,
      createdAt,
      startedAt: control.now(),
      depth: claim.depth + LINK,
      cause: { kind: 'call', account, input, parentRun: claim.lease.runId, root: rootOf(claim) },
    }
    const previewed = await replay(world, workflow, { claim: child, steps: [] }, rules)
    control.adopt(step.key, previewed)
    const { end } = previewed
    if (end.kind === 'completed') return completed('derived', end.output, control.now())
    if (end.kind !== 'failed') return null
    const outcome = { status: 'failed', output: null, error: end.error, finishedAt: control.now() } as const
    return { source: 'derived', outcome }
  }
}

/** Begins the reason of a run that waits for an event for which the code does not ask any more. */
export const KEEPS_WAIT = 'keeps its wait: '

/**
 * Previews a run on its journal, as the first pass of this code would, up to the journal's end.
 * There, the preview is open. `now`: the moment of that pass, in epoch milliseconds.
 */
async function previewJournal(
  world: PreviewParts,
  workflow: AnyWorkflow,
  { claim, steps }: RecordedRun,
  now: number,
): Promise<Previewed> {
  const deadline = computeDeadline(workflow, { startedAt: claim.startedAt })
  if (deadline !== null && now >= deadline) {
    return { ...PREVIEWED_NOTHING, end: { kind: 'failed', error: describeError(describeOverdue(deadline)) } }
  }
  const kept: PreviewedEnd[] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'wait.changed') kept.push({ kind: 'halted', reason: describeKept(notice) })
    world.publish?.(notice)
  }
  const answersFor = () => () => null
  const previewed = await previewPass({ ...world, publish }, { claim, workflow, known: steps, answersFor })
  const [end] = kept
  return end && goesOn(previewed.end) ? { ...previewed, end } : previewed
}

function describeKept({ step, target, asked, place }: NoticeOf<'wait.changed'>): string {
  const at = place === null ? '' : ` at ${place}`
  return `${KEEPS_WAIT}step "${step}" still waits for ${target}, and the code asks for ${asked}${at}`
}

/** Whether a preview on a journal came to its end, or to that of the run. */
export function goesOn({ kind }: PreviewedEnd): boolean {
  return kind === 'open' || kind === 'completed' || kind === 'continued'
}

/** Origins of runs that `on` decides about. Others follow from a run, or from a person. */
const ROUTED: readonly ClaimedRun['origin'][] = ['event', 'tick', 'replay', 'plan']

/** Tells that the code would not have been started; null where its `on` still has the cause. */
export function findUnstarted(workflow: AnyWorkflow, { cause, origin, handler }: ClaimedRun): Unstarted | null {
  if (handler !== 'run' || !ROUTED.includes(origin)) return null
  const on = describeTrigger(workflow)
  if (cause.kind === 'event') {
    return planRuns(cause.event.type, planRoutes(workflow)).length > 0 ? null : { by: cause.event.type, on }
  }
  if (cause.kind === 'call') return null
  const trigger = scheduleOf(workflow)
  if (trigger === null) return { by: 'tick', on }
  const { accounts } = trigger
  const isOurs = accounts === 'each' || accounts.includes(cause.account)
  return isOurs ? null : { by: `tick of ${cause.account}`, on: `${on} of ${accounts.join(', ')}` }
}
