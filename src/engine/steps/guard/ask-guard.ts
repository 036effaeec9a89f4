import { accountOf } from '../../../core/runs/claim.ts'
import { RetryAt } from '../../../core/runs/retry.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import {
  type Asked,
  type ClosedApproval,
  completeState,
  type EffectAsk,
  type EffectPermit,
  type FileBefore,
  type FileState,
} from '../../../core/safety/effect.ts'
import { MAX_TOGETHER } from '../../../core/safety/effect-group.ts'
import type { FolderCount } from '../../../core/safety/folders.ts'
import { folderLimit, type Limit, planLimit, planLimits } from '../../../core/safety/guard.ts'
import { coversEffect, describeScope } from '../../../core/safety/stop.ts'
import type { DeletePermit } from '../../../core/service/files-api.ts'
import { findStorage } from '../../../core/service/storage.ts'
import { aboutRun, type Pass } from '../../pass/pass.ts'
import { runOutside } from '../../pass/scope.ts'
import { askInParts } from './ask-in-parts.ts'

export interface EffectFacts {
  /** The state in which the run saw the file; null where it has not read it. */
  asked: Asked | null
  /** The state that its author requires. */
  expect?: FileState | null
  /** Files that the run has listed in each folder above a path; null: of the whole storage. */
  listedAbove?(path: string | null): FolderCount[]
  /** Reads the file's present state; null: there is none. */
  look?(signal: AbortSignal): Promise<Asked | null>
  /** True where a folder may go, with everything in it. */
  isFolderAllowed?: boolean
  /** Equal for effects that begin together or not at all. */
  list?: object
  /** Takes the permit before the effect begins. */
  onGranted?(permit: DeletePermit): void
  /** The state that the last look before a request found; null while there was none. */
  before?(): FileBefore | null
}

/** True where a step needs a permit: deletes, `once` steps, and writes that a limit counts. */
export function needsPermit(pass: Pass, step: Checkpoint, { once = false }: { once?: boolean }): boolean {
  if (step.effect === 'delete' || once) return true
  return step.effect === 'write' && (pass.limitsWrites || isPlanned(pass))
}

/**
 * Asks the store whether the effect may begin; its answer is on disk with the step's row. Rejects
 * where nothing could be decided, and then nothing may begin.
 */
export async function askGuard(
  pass: Pass,
  { step, row, isHeld }: { step: Checkpoint; row: Checkpoint; isHeld: boolean },
  facts: EffectFacts,
): Promise<EffectPermit> {
  const { asked: seen, expect = null, list } = facts
  const limits = planLimitsOf(pass, step, facts, null)
  // A state that its author names wholly needs no look: only a file in this state is deleted.
  const isKnown = seen !== null || isWhole(expect) || facts.look === undefined
  // A size that nobody knows counts as nothing. It is looked up where bytes are limited, and so is
  // a folder for its share.
  const isLimited = limits.some(({ what, setting }) => what === 'bytes' || setting.endsWith('.share'))
  const describe = (state: Asked | null): EffectAsk => {
    const asked = completeState(state, expect)
    return describeAsk(pass, { step, row, asked, limits: planLimitsOf(pass, step, facts, asked), facts })
  }
  const lookAndDescribe = async () => describe(await look(pass, facts))
  if (list) {
    // The files of a list are looked at before all of it asks, or a part of it could begin. One
    // that cannot be seen now asks unseen. Without a limit, nothing can hold it.
    const request = isLimited ? lookAndDescribe : () => lookAndDescribe().catch(() => describe(null))
    const isFree = !isHeld && limits.length === 0
    return askTogether(pass, list, isKnown || isFree ? () => describe(seen) : request)
  }
  if (isKnown) return ask(pass, describe(seen))
  if (isHeld || isPlanned(pass) || isLimited) return ask(pass, await lookAndDescribe())
  const permit = await ask(pass, { ...describe(null), isUnseen: true })
  return permit.kind === 'held' && permit.isUnseen ? ask(pass, await lookAndDescribe()) : permit
}

function isWhole(state: FileState | null): boolean {
  return state !== null && Object.values(state).every((part) => part !== null)
}

async function ask(pass: Pass, request: EffectAsk): Promise<EffectPermit> {
  const [permit] = await pass.journal.beginEffects([request], askOptions(pass))
  if (!permit) throw new Error('The store gave no answer to an effect.')
  return permit
}

/** Moments and votes of an approval that this ask may open. It expires before the run times out. */
function askOptions({ clock, deadline, guard }: Pass) {
  const now = clock.now()
  const { expireMs, needs } = guard.approvals
  return { now, needs, expiresAt: Math.min(now + expireMs, deadline ?? Infinity) }
}

interface AskParts {
  step: Checkpoint
  row: Checkpoint
  asked: Asked | null
  limits: readonly Limit[]
  facts: Pick<EffectFacts, 'expect'>
}

function describeAsk(pass: Pass, { step, row, asked, limits, facts }: AskParts): EffectAsk {
  return {
    step: row,
    class: step.effect === 'delete' ? 'delete' : 'write',
    operation: step.key.replace(/\[.*$/s, ''),
    ...sourceOf(pass, step),
    asked,
    expect: facts.expect ?? null,
    limits,
  }
}

/** The limits of a step's effect. Where the guard is off, those that always ask. */
function planLimitsOf(
  pass: Pass,
  step: Checkpoint,
  { listedAbove, isFolderAllowed = false }: EffectFacts,
  asked: Asked | null,
): Limit[] {
  const { effect } = step
  const { runId } = pass.run.lease
  if (effect === 'read') return isFolderAllowed ? [folderLimit({ runId })] : []
  const { limits } = pass.guard
  const source = { runId, ...sourceOf(pass, step) }
  const listed = listedAbove?.(asked?.path ?? null) ?? []
  return [
    ...(isPlanned(pass) ? [planLimit({ runId }, effect)] : []),
    ...(isFolderAllowed ? [folderLimit({ runId })] : []),
    ...(limits === null ? [] : planLimits(limits, pass.ownLimits, { source, effect, listed })),
  ]
}

/** True for a run that was started with a plan, whose list is all that it may do by itself. */
function isPlanned({ run }: Pass): boolean {
  return run.origin === 'plan'
}

/** The source of an effect, as limits and stops count it. */
function sourceOf({ run, spellings }: Pass, { target }: Pick<Checkpoint, 'target'>) {
  const storage = target === null ? null : findStorage(target.slice(0, target.indexOf(':')), spellings)
  return { workflow: run.workflow, account: accountOf(run.cause), storage }
}

/** The look is the guard's, not a call of the author's code. */
async function look(pass: Pass, facts: EffectFacts): Promise<Asked | null> {
  return (await runOutside(() => facts.look?.(pass.abort.signal))) ?? null
}

interface Waiting {
  request: () => EffectAsk | Promise<EffectAsk>
  resolve: (permit: EffectPermit) => void
  reject: (error: unknown) => void
}

/** The asks of each list that begin in the present turn, by the list's own object. */
const lists = new WeakMap<object, Waiting[]>()

/** Asks for an effect with the others of its list that begin in this turn: all or none. */
function askTogether(pass: Pass, list: object, request: Waiting['request']): Promise<EffectPermit> {
  return new Promise((resolve, reject) => {
    const waiting = lists.get(list) ?? []
    waiting.push({ request, resolve, reject })
    if (waiting.length > 1) return
    lists.set(list, waiting)
    setImmediate(() => {
      lists.delete(list)
      void answer(pass, waiting)
    })
  })
}

async function answer(pass: Pass, waiting: readonly Waiting[]): Promise<void> {
  const { journal, run } = pass
  try {
    const asks = await Promise.all(waiting.map(({ request }) => request()))
    const options = askOptions(pass)
    const permits =
      asks.length > MAX_TOGETHER
        ? await askInParts(journal, run.lease.runId, { asks, options })
        : await journal.beginEffects(asks, { ...options, together: true })
    for (const [index, { resolve }] of waiting.entries()) resolve(reportOnce(permits[index] as EffectPermit, index))
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

/** An approval that the list opened is told of once. */
function reportOnce(permit: EffectPermit, index: number): EffectPermit {
  return permit.kind === 'held' && index > 0 ? { ...permit, opened: false } : permit
}

/** Tells of an approval, where this step's ask opened it. */
export function publishHeld(pass: Pass, { key }: Checkpoint, permit: Extract<EffectPermit, { kind: 'held' }>): void {
  const { approval, opened, reason, rule = null } = permit
  if (approval === null || !opened) return
  pass.publish({ kind: 'approval.opened', approval, ...aboutRun(pass), step: key, reason, rule })
}

/** Tells of the end of an approval that this step is the first to act on. */
export function publishEnd(pass: Pass, { key }: Pick<Checkpoint, 'key'>, { id, status }: ClosedApproval): void {
  pass.publish({ kind: 'approval.closed', approval: id, ...aboutRun(pass), step: key, status })
}

/** The step asks again after this long, and the guard then holds it until the stop ends. */
const ASK_AGAIN_MS = 50

/** A stop that came after the permit of an effect. The step itself says so, once it is held. */
export class StoppedLate extends RetryAt {}

/**
 * Prepares the request of a delete. Throws where the run has ended or was taken over, or a stop has
 * come, since its permit. A later attempt deletes the file only as this one found it.
 */
export async function prepareDelete(
  pass: Pass,
  { key, target, before }: { key: string; target: string; before: FileBefore | null },
): Promise<void> {
  if (before !== null) await pass.journal.noteSeen(key, before)
  // Last, as the note is a commit: seconds where the database fails over.
  await refuseStopped(pass, target)
}

async function refuseStopped(pass: Pass, target: string): Promise<void> {
  const source = sourceOf(pass, { target })
  const stop = (await pass.store.listStops()).find((each) => coversEffect(each, source))
  if (stop === undefined) return
  throw new StoppedLate(pass.clock.now() + ASK_AGAIN_MS, `${describeScope(stop)} are stopped: ${stop.reason}`)
}
