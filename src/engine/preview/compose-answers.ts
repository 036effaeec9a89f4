import { type JsonValue, toJson } from '../../core/json.ts'
import { type Checkpoint, isFinished, numberOf, stepNameOf } from '../../core/runs/step.ts'
import type { FileState } from '../../core/safety/effect.ts'
import type { DeleteOutcome } from '../../core/service/files-api.ts'
import type { StubbedEffect, StubOutcome } from '../pass/step-stub.ts'
import { type Answer, type AnswerStep, firstAnswer } from './first-answer.ts'
import type { PreviewControl } from './preview-run.ts'

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

export interface AnswerParts {
  rules: AnswerRules
  /** The finished steps of a run, and all that it waits for. */
  steps: readonly Checkpoint[]
  readOutput: (key: string) => Promise<string>
  /** The files as the preview sees them. Default: none is a folder, and a delete is forgotten. */
  files?: { isFolder: (target: string) => boolean; remove: (target: string) => void }
  /** Answers what nothing else has answered: before a live read, and after one. */
  before?: AnswerStep
  after?: AnswerStep
}

/** Recorded answers come first, then what is given or follows from a step, and real reads last. */
export function composeAnswers(parts: AnswerParts, control: PreviewControl): AnswerStep {
  const { rules, steps, readOutput, files, before = answerNothing, after = answerNothing } = parts
  const { readsLive, rerun = [], fixtures = {}, endsWhereHeld = false } = rules
  return firstAnswer([
    callAnew(rerun),
    recordedAnswers(steps, readOutput),
    standInForLink(control),
    fixedAnswers(fixtures, control),
    ...(endsWhereHeld ? [endWhereHeld(steps)] : []),
    declaredAnswers(control),
    ...(readsLive ? [] : [assumeDeleted(control)]),
    derivedAnswers({
      ...control,
      looks: readsLive,
      ...(files && { isFolder: (target) => files.isFolder(target), onDelete: (target) => files.remove(target) }),
    }),
    before,
    ...(readsLive ? [readLive] : []),
    after,
  ])
}

const answerNothing: AnswerStep = () => null

/** Calls the functions of reads that are to be made again. */
function callAnew(names: readonly string[]): AnswerStep {
  return ({ key, kind, effect }) => {
    if (kind !== 'run' || effect !== 'read') return null
    return names.includes(key) || names.includes(stepNameOf(key)) ? { source: 'live', outcome: null } : null
  }
}

/** An address of bytes works like a key, so the code gets one that leads nowhere. */
function standInForLink({ now }: PreviewControl): AnswerStep {
  const value = { url: { reveal: () => 'https://plan.invalid/' }, expiresAt: null }
  return ({ key }) =>
    stepNameOf(key) === 'files.downloadUrl'
      ? { source: 'derived', outcome: { ...completeWith('null', now()), value } }
      : null
}

function fixedAnswers(fixtures: Readonly<Record<string, JsonValue>>, { now }: PreviewControl): AnswerStep {
  return ({ key, kind }) => {
    const name = [key, stepNameOf(key)].find((each) => Object.hasOwn(fixtures, each))
    if (kind !== 'run' || name === undefined) return null
    return { source: 'declared', outcome: completeWith(JSON.stringify(fixtures[name]), now()) }
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
    return { source: 'declared', outcome: completeWith(output, now()) }
  }
}

/** Reads are real, but for the bytes of a file, which a download would write to the disk. */
const readLive: AnswerStep = ({ kind, effect, key }, about) => {
  if (kind !== 'run' || effect !== 'read' || about.effect?.isOnce === true) return null
  return stepNameOf(key).startsWith('files.download') ? null : { source: 'live', outcome: null }
}

/** `output`: JSON text. */
export function completeWith(output: string, finishedAt: number): StubOutcome {
  return { status: 'completed', output, error: null, finishedAt }
}

/** Kinds whose recorded outcome belongs to their target: another one asks for something else. */
const BY_TARGET: readonly string[] = ['wait', 'receive', 'approve', 'send']

/**
 * Answers by the finished steps of a run's journal, wherever the code asks for them. A step of
 * another kind or effect is another step. `readOutput`: reads a result that is stored apart.
 */
function recordedAnswers(steps: readonly Checkpoint[], readOutput: (key: string) => Promise<string>): AnswerStep {
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

interface Derived {
  now: () => number
  /** Aborts what is read for an answer. */
  signal: AbortSignal
  /** Whether a delete may look at its file; else only a recording answers it. Default true. */
  looks?: boolean
  /** Whether a target is a folder, once it was looked at. Default: none is. */
  isFolder?: (target: string) => boolean
  /** Hears of each delete that would happen. */
  onDelete?: (target: string) => void
}

/**
 * Answers steps whose outcome follows from themselves. Sleeps end at their moment, and an event has
 * the id that it was given. A delete finds its file as it is now.
 */
function derivedAnswers(parts: Derived): AnswerStep {
  return (step, { send, effect }) => {
    if (step.kind === 'hook')
      return derive({ finishedAt: parts.now(), output: JSON.stringify({ id: step.target, expiresAt: step.dueAt }) })
    if (step.kind === 'sleep') return derive({ finishedAt: step.dueAt ?? parts.now(), output: null })
    if (step.kind === 'schedule') return derive({ finishedAt: parts.now(), output: 'null' })
    if (send) return derive({ finishedAt: parts.now(), output: JSON.stringify({ id: send.id }) })
    if (step.effect === 'delete' && effect?.look && parts.looks !== false) return deriveDelete(parts, step, effect)
    return null
  }
}

/** A delete of a file that the run has read finds it in that state. */
function assumeDeleted({ now }: Pick<Derived, 'now'>): AnswerStep {
  return ({ effect }, about) => {
    if (effect !== 'delete' || typeof about.effect?.asked?.path !== 'string') return null
    const output = JSON.stringify({ outcome: 'deleted', proof: 'none' })
    return { source: 'derived', outcome: { status: 'completed', error: null, finishedAt: now(), output } }
  }
}

async function deriveDelete(
  { now, signal, isFolder = () => false, onDelete }: Derived,
  { target }: Checkpoint,
  { look, expect, isFolderAllowed }: StubbedEffect,
): Promise<Answer | null> {
  const found = (await look?.(signal)) ?? null
  if (target !== null && !isFolderAllowed && isFolder(target)) {
    const message = `${target} is a folder. To delete it with everything in it, set \`allowFolder: true\`.`
    const error = { name: 'InvalidRequestError', message }
    return { source: 'derived', outcome: { status: 'failed', error, output: null, finishedAt: now() } }
  }
  const outcome = decideDelete(found, expect)
  if (outcome.outcome === 'deleted' && target !== null) onDelete?.(target)
  return { ...derive({ finishedAt: now(), output: JSON.stringify(outcome) }), seen: found }
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

function derive(outcome: Pick<StubOutcome, 'finishedAt' | 'output'>): Answer {
  return { source: 'derived', outcome: { status: 'completed', error: null, ...outcome } }
}
