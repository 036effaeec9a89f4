import { firstKeyOf } from '../../../core/runs/step.ts'
import { completeState, type EffectAsk, type EffectPermit, type FileState } from '../../../core/safety/effect.ts'
import type { CountedAsk } from '../../../core/safety/effect-group.ts'
import type { EffectSource } from '../../../core/safety/guard.ts'
import { coversEffect, type EffectStop } from '../../../core/safety/stop.ts'
import type { AskOptions } from '../../../core/store/effects.ts'
import { type FoundItem, readAsked, stateOf } from '../approvals/approval-search.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { Bonds } from '../runs/step-table.ts'

/** An ask with the answer that needs no limit; null where the limits decide. */
export interface JudgedAsk extends CountedAsk {
  permit: EffectPermit | null
}

/** Facts that a judgment of an ask rests on, beside the ask. */
export interface JudgeParts extends Pick<AskOptions, 'now' | 'needs'> {
  inForce: readonly EffectStop[]
  /** Sources of the same list: a stop of one of them holds all. */
  beside?: readonly EffectSource[]
}

export function findStop(inForce: readonly EffectStop[], sources: readonly EffectSource[]): EffectStop | undefined {
  return inForce.find((stop) => sources.some((source) => coversEffect(stop, source)))
}

/** The word about a step's effect. A no to a file is also for its later deletes in the run. */
export async function findWord(
  approvals: ApprovalTable,
  runId: string,
  { class: kind, step }: EffectAsk,
): Promise<FoundItem | null> {
  const find = async (key: string) => {
    const found = await approvals.findItem(runId, key)
    return found && { ...found, state: stateOf(found) }
  }
  const first = firstKeyOf(step.key)
  const refused = kind === 'delete' && first !== step.key ? await find(first) : null
  return refused?.state === 'denied' || refused?.state === 'expired' ? refused : find(step.key)
}

/**
 * The permit of an effect that has begun before. It stays bound to what people approved then, also
 * where their word is taken back by now. It is bound to the file as its last request found it, too.
 */
export function permitAgain(item: FoundItem | null, bonds: Bonds | null): EffectPermit {
  const approved = item?.state === 'approved' ? item : null
  return {
    kind: 'granted',
    approval: approved?.approval ?? null,
    by: null,
    expect: completeState(approved && readAsked(approved.asked), completeState(read(bonds?.expect), read(bonds?.seen))),
    isRepeated: true,
  }
}

function read(state: string | null | undefined): FileState | null {
  return state == null ? null : JSON.parse(state)
}

/** The answer while people have not decided. */
export function holdFor({ approval, expiresAt: until, why }: FoundItem): EffectPermit {
  const reason = `waits for approval ${approval}: it would be ${why}`
  return { kind: 'held', reason, approval, until, opened: false }
}
