import { type Checkpoint, firstKeyOf } from '../../../core/runs/step.ts'
import {
  completeState,
  type EffectAsk,
  type EffectPermit,
  type FileState,
  heldStep,
  toState,
} from '../../../core/safety/effect.ts'
import type { CountedAsk } from '../../../core/safety/effect-group.ts'
import { describeLimit, type EffectSource, type Limit, nextRoomAt, ruleOf } from '../../../core/safety/guard.ts'
import { coversEffect, type EffectStop } from '../../../core/safety/stop.ts'
import type { AskOptions } from '../../../core/store/effects.ts'
import { type FoundItem, readAsked, stateOf } from '../approvals/approval-search.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { Bonds, EffectTable } from '../safety/effect-table.ts'

/** An ask with the answer that needs no limit; null where the limits decide. */
export interface JudgedAsk extends CountedAsk {
  permit: EffectPermit | null
  /** True where people were asked before. */
  wasAsked: boolean
}

/** Words on the steps of asks, and those that have begun, as they are judged. */
interface KnownSteps {
  /** By step. */
  items: ReadonlyMap<string, FoundItem>
  begun: ReadonlyMap<string, Bonds>
}

/** Facts that a judgment of an ask rests on, beside the ask. */
export interface JudgeParts extends Pick<AskOptions, 'now' | 'needs'> {
  inForce: readonly EffectStop[]
  known: KnownSteps
  /** Sources of the same list: a stop of one of them holds all. */
  beside?: readonly EffectSource[]
}

export function findStop(inForce: readonly EffectStop[], sources: readonly EffectSource[]): EffectStop | undefined {
  return inForce.find((stop) => sources.some((source) => coversEffect(stop, source)))
}

export async function readKnown(
  { approvals, effects }: { approvals: ApprovalTable; effects: EffectTable },
  runId: string,
  asks: readonly EffectAsk[],
): Promise<KnownSteps> {
  const keys = [...new Set(asks.flatMap(({ step }) => [step.key, firstKeyOf(step.key)]))]
  const items = await approvals.listItems(runId, keys)
  const targets = new Map(asks.map(({ step }) => [step.key, step.target]))
  // Other code may name another target under the same key: that is another effect.
  const begun = (await effects.listBegun(runId, keys)).filter(
    ({ step, target }) => target === null || target === targets.get(step),
  )
  const byStep = <Row extends { step: string }>(rows: readonly Row[]) => new Map(rows.map((row) => [row.step, row]))
  return { items: byStep(items), begun: byStep(begun) }
}

/** The word about a step's effect. A no to a file is also for its later deletes in the run. */
export function findWord({ items }: KnownSteps, { class: kind, step, limits }: EffectAsk): FoundItem | null {
  const find = (key: string) => {
    const found = items.get(key)
    return found ? { ...found, state: stateOf(found) } : null
  }
  const first = firstKeyOf(step.key)
  const refused = kind === 'delete' && first !== step.key ? find(first) : null
  if (refused?.state === 'denied' || refused?.state === 'expired') return refused
  const word = find(step.key)
  // The list of a question is one of files: what a folder has in it was not shown.
  const isOfFiles = word?.kind === 'question' && word.state === 'approved'
  return isOfFiles && limits.some((limit) => ruleOf(limit) === 'folder') ? null : word
}

/**
 * The permit of an effect that has begun before. It stays bound to what people approved then, also
 * where their word is taken back by now. It is bound to the file as its last request found it, too.
 */
export function permitAgain(item: FoundItem | null, bonds: Bonds): EffectPermit {
  const approved = item?.state === 'approved' ? item : null
  return {
    kind: 'granted',
    approval: approved?.approval ?? null,
    by: null,
    expect: completeState(approved && readAsked(approved.asked), completeState(read(bonds.expect), read(bonds.seen))),
    isRepeated: true,
  }
}

function read(state: string | null): FileState | null {
  return state === null ? null : toState(JSON.parse(state))
}

/** The answer while people have not decided. */
export function holdFor({ approval, expiresAt: until, why }: FoundItem): EffectPermit {
  const reason = `waits for approval ${approval}: it would be ${why}`
  return { kind: 'held', reason, approval, until, opened: false }
}

/** The answer to effects that a limit has no room for; null where people decide. */
export function answerFull(full: Limit, now: number): EffectPermit | null {
  const { over, window } = full
  const would = `it would be ${describeLimit(full)}`
  if (over === 'fail') return { kind: 'denied', approval: null, reason: would }
  if (over !== 'wait') return null
  const until = nextRoomAt(window, now)
  return { kind: 'held', reason: `waits for room: ${would}`, approval: null, until, opened: false }
}

/** The rows of the steps that are decided about. */
export function listRows(judged: readonly JudgedAsk[]): Checkpoint[] {
  const decided = judged.filter(({ permit }) => permit !== null)
  return decided.map(({ ask: { step }, permit }) => (permit?.kind === 'granted' ? step : heldStep(step)))
}

/** The steps whose effects may begin, those that begin again, and asks that people approved. */
export function listGranted(judged: readonly JudgedAsk[]) {
  const keys: string[] = []
  const repeated: string[] = []
  const approved: CountedAsk[] = []
  for (const { ask, source, permit } of judged) {
    if (permit?.kind !== 'granted') continue
    keys.push(ask.step.key)
    if (permit.isRepeated) repeated.push(ask.step.key)
    else if (permit.approval !== null) approved.push({ ask, source })
  }
  return { keys, repeated, approved }
}
