import { type JsonValue, toJson } from '../../core/json.ts'
import { type Checkpoint, isFinished, numberOf, stepNameOf } from '../../core/runs/step.ts'
import type { FileState } from '../../core/safety/effect.ts'
import type { DeleteOutcome } from '../../core/service/files-api.ts'
import type { StubbedEffect } from '../pass/step-stub.ts'
import type { PreviewControl } from './preview-pass.ts'
import type { Answer, AnswerStep } from './previewed.ts'

export interface AnswerRules {
  /** Whether reads that are not recorded are made; else nothing is asked of anybody. */
  readsLive: boolean
  /** Names or keys of reading steps whose function is called although their result is recorded. */
  rerun?: readonly string[]
  /** Results by key or name of a step, for those that no recording answers. */
  fixtures?: Readonly<Record<string, JsonValue>>
  /** Whether the preview ends where the recorded run stands; else it goes on. Default false. */
  endsWhereHeld?: boolean
}

/** The files as the preview sees them. */
interface SeenFiles {
  /** Whether a target is a folder, once it was looked at. */
  isFolder: (target: string) => boolean
  /** Hears of each delete that would happen. */
  remove: (target: string) => void
}

export interface AnswerParts {
  rules: AnswerRules
  /** The finished steps of a run, and all that it waits for. */
  steps: readonly Checkpoint[]
  /** Reads a result that is stored apart, as JSON text. */
  readOutput: (key: string) => Promise<string>
  /** Default: none is a folder, and a delete is forgotten. */
  files?: SeenFiles
  /** Answers what nothing else has answered: before a live read, and after one. */
  before?: AnswerStep
  after?: AnswerStep
}

const NO_FILES: SeenFiles = { isFolder: () => false, remove: () => {} }

/** Recorded answers come first, then what is given or follows from a step, and real reads last. */
export function composeAnswers(parts: AnswerParts, control: PreviewControl): AnswerStep {
  const { rules, steps, readOutput, files = NO_FILES, before = answerNothing, after = answerNothing } = parts
  const { readsLive, rerun = [], fixtures = {}, endsWhereHeld = false } = rules
  const answers = [
    callAnew(rerun),
    recordedAnswers(steps, readOutput),
    standInForLink(control),
    fixedAnswers(fixtures, control),
    ...(endsWhereHeld ? [endWhereHeld(steps)] : []),
    declaredAnswers(control),
    derivedAnswers(control, files, readsLive),
    before,
    ...(readsLive ? [readLive] : []),
    after,
  ]
  return async (step, about) => {
    for (const answer of answers) {
      const given = await answer(step, about)
      if (given !== null) return given
    }
    return null
  }
}

const answerNothing: AnswerStep = () => null

/** `output`: JSON text; null where a step has no result. */
export function completed(source: Answer['source'], output: string | null, finishedAt: number | null): Answer {
  return { source, outcome: { status: 'completed', output, error: null, finishedAt } }
}

/** Calls the functions of reads that are to be made again. */
function callAnew(names: readonly string[]): AnswerStep {
  return ({ key, kind, effect }) => {
    if (kind !== 'run' || effect !== 'read') return null
    return names.includes(key) || names.includes(stepNameOf(key)) ? { source: 'live', outcome: null } : null
  }
}

/** Kinds whose recorded outcome belongs to their target: another one asks for something else. */
const BY_TARGET: readonly string[] = ['wait', 'receive', 'approve', 'send']

/**
 * Answers by the finished steps of a run's journal, wherever the code asks for them. A step of
 * another kind or effect is another step.
 */
function recordedAnswers(steps: readonly Checkpoint[], readOutput: AnswerParts['readOutput']): AnswerStep {
  const known = new Map(steps.filter(isFinished).map((step) => [step.key, step]))
  return async ({ key, kind, effect, target }, about) => {
    const row = known.get(key)
    if (!row || row.kind !== kind || row.effect !== effect) return null
    if (BY_TARGET.includes(kind) && row.target !== target) return null
    // The journal has no result of such a step.
    if (about.effect?.isKept === false && row.status === 'completed') return null
    const { status, attempt, error, finishedAt } = row
    const output = row.apartBytes === undefined ? row.output : await readOutput(key)
    const outcome = { status: status as 'completed' | 'failed', attempt, error, finishedAt, output }
    return { source: 'recorded', outcome, number: numberOf(row) }
  }
}

/** An address of bytes works like a key, so the code gets one that leads nowhere. */
function standInForLink({ now }: PreviewControl): AnswerStep {
  const value = { url: { reveal: () => 'https://plan.invalid/' }, expiresAt: null }
  const outcome = { status: 'completed', output: 'null', error: null, value } as const
  return ({ key }) =>
    stepNameOf(key) === 'files.downloadUrl' ? { source: 'derived', outcome: { ...outcome, finishedAt: now() } } : null
}

function fixedAnswers(fixtures: Readonly<Record<string, JsonValue>>, { now }: PreviewControl): AnswerStep {
  return ({ key, kind }) => {
    const name = [key, stepNameOf(key)].find((each) => Object.hasOwn(fixtures, each))
    if (kind !== 'run' || name === undefined) return null
    return completed('declared', JSON.stringify(fixtures[name]), now())
  }
}

/** Ends the preview where the run stood when it was recorded. */
function endWhereHeld(steps: readonly Checkpoint[]): AnswerStep {
  const held = new Set(steps.filter((step) => !isFinished(step)).map(({ key }) => key))
  return ({ key }) => {
    if (held.has(key)) throw new Error('the run was recorded while it waited here')
    return null
  }
}

/** Answers what the author declares as the result of doing nothing: the option `dry`. */
function declaredAnswers({ now }: PreviewControl): AnswerStep {
  return async ({ key, kind }, { effect }) => {
    if (kind !== 'run' || !effect?.dry) return null
    const output = toJson(await effect.dry(), `The \`dry\` result of step "${key}"`)
    return completed('declared', output, now())
  }
}

/** Reads are real, but for the bytes of a file, which a download would write to the disk. */
const readLive: AnswerStep = ({ kind, effect, key }, about) => {
  if (kind !== 'run' || effect !== 'read' || about.effect?.isOnce === true) return null
  return stepNameOf(key).startsWith('files.download') ? null : { source: 'live', outcome: null }
}

/**
 * Answers steps whose outcome follows from themselves. Sleeps end at their moment, and an event has
 * the id that it was given. A delete finds its file as it is now, or as the run has read it.
 */
function derivedAnswers(control: PreviewControl, files: SeenFiles, readsLive: boolean): AnswerStep {
  const derive = (output: string | null, at = control.now()) => completed('derived', output, at)
  return (step, { send, effect }) => {
    if (step.kind === 'hook') return derive(JSON.stringify({ id: step.target, expiresAt: step.dueAt }))
    if (step.kind === 'sleep') return derive(null, step.dueAt ?? control.now())
    if (step.kind === 'schedule') return derive('null')
    if (send) return derive(JSON.stringify({ id: send.id }))
    if (step.effect !== 'delete' || !effect) return null
    if (readsLive) return deriveDelete(control, files, step, effect)
    return typeof effect.asked?.path === 'string' ? derive(JSON.stringify(decideDelete(effect.asked, null))) : null
  }
}

async function deriveDelete(
  { now, signal }: PreviewControl,
  files: SeenFiles,
  { target }: Checkpoint,
  { look, expect, isFolderAllowed }: StubbedEffect,
): Promise<Answer | null> {
  if (!look) return null
  const found = await look(signal)
  if (target !== null && !isFolderAllowed && files.isFolder(target)) {
    const message = `${target} is a folder. To delete it with everything in it, set \`allowFolder: true\`.`
    const error = { name: 'InvalidRequestError', message }
    return { source: 'derived', outcome: { status: 'failed', error, output: null, finishedAt: now() } }
  }
  const outcome = decideDelete(found, expect)
  if (outcome.outcome === 'deleted' && target !== null) files.remove(target)
  return { ...completed('derived', JSON.stringify(outcome), now()), seen: found }
}

/** The outcome that the client's delete would have; see `files/operations/delete.ts`. */
function decideDelete(found: FileState | null, expect: FileState | null): DeleteOutcome {
  if (found === null) return { outcome: 'not_found', proof: 'none' }
  if (expect !== null && !isAsExpected(found, expect)) return { outcome: 'changed', proof: 'none' }
  return { outcome: 'deleted', proof: 'none' }
}

function isAsExpected(found: FileState, { path, bytes, modifiedAt }: FileState): boolean {
  if (path !== null && path !== found.path) return false
  if (bytes !== null && bytes !== found.bytes) return false
  return modifiedAt === null || Date.parse(modifiedAt) === Date.parse(found.modifiedAt ?? '')
}
