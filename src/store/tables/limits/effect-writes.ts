import type { Decision, DecisionResult } from '../../../core/safety/approval.ts'
import type { Asked } from '../../../core/safety/effect.ts'
import { planAskedBy } from '../../../core/safety/guard.ts'
import { coversEffect, describeScope, type EffectStop, type StopScope } from '../../../core/safety/stop.ts'
import type { EndByHand } from '../../../core/store/effects.ts'
import type { PlannedRun } from '../../../core/store/planned-run.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { ReplayTable } from '../runs/replay-table.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { StopTable } from '../safety/stop-table.ts'
import type { ApprovalWaits } from '../waits/approval-waits.ts'
import type { ApprovalDecisions } from './approval-decisions.ts'

/** A delete that a person does by hand. */
interface EffectByHand {
  account: string
  storage: string
  /** Such as `storage_a:fil_1`. */
  target: string
  /** The state in which the person saw it, and without which it is not deleted. */
  asked: Asked
  actor: string
  reason: string | null
  at: number
}

interface SwitchTables {
  effects: EffectTable
  stops: StopTable
  approvalWaits: ApprovalWaits
}

/** Holds the effects of a scope from this commit on. False when it was stopped already. */
export async function stopEffects({ stops, effects }: SwitchTables, stop: EffectStop): Promise<boolean> {
  const { kind, name, since: at, actor, reason } = stop
  await stops.lock()
  const target = describeScope({ kind, name })
  const isNew = await stops.add(stop)
  if (isNew) await effects.note({ at, phase: 'switched', operation: 'stop', target, actor, error: reason })
  return isNew
}

/** Ends a stop. Wakes runs that stops hold, as `askAgain`; null when there was none. */
export async function resumeEffects(
  { stops, effects, approvalWaits }: SwitchTables,
  scope: StopScope,
  { actor, reason, now: at }: { actor: string; reason: string | null; now: number },
): Promise<number | null> {
  await stops.lock()
  if (!(await stops.remove(scope))) return null
  const target = describeScope(scope)
  await effects.note({ at, phase: 'switched', operation: 'resume', target, actor, error: reason })
  return await approvalWaits.asking.begin('stop')
}

/**
 * Appends the beginning of a delete that a person does by hand, unless a stop covers it. Returns
 * the number of its row, or the stop.
 */
export async function beginByHand(
  { stops, effects }: SwitchTables,
  effect: EffectByHand,
): Promise<{ seq: number } | { stop: EffectStop }> {
  await stops.lock()
  const source = { workflow: '', account: effect.account, storage: effect.storage }
  const stop = (await stops.listStops()).find((each) => coversEffect(each, source))
  return stop ? { stop } : { seq: await effects.note(describeByHand(effect, 'begun')) }
}

export async function endByHand(
  { effects }: Pick<SwitchTables, 'effects'>,
  { seq: ofSeq, outcome, error, before, ...effect }: EffectByHand & EndByHand,
): Promise<void> {
  const row = { ...describeByHand(effect, 'ended'), ofSeq, outcome, error }
  await effects.note({ ...row, before: before && JSON.stringify(before) })
}

/** A ledger row of a delete by hand. The reason of the person stands in the first one. */
function describeByHand({ account, target, asked, actor, reason, at }: EffectByHand, phase: 'begun' | 'ended') {
  const { path, bytes } = asked
  const seen = JSON.stringify(asked)
  const about = { account, target, path, bytes, actor, asked: seen, ...(phase === 'begun' && { expect: seen }) }
  const error = phase === 'begun' ? reason : null
  return { ...about, at, phase, class: 'delete', operation: 'files.delete', error } as const
}

/** A person's word for the whole list of a plan. */
type PlannedWord = Pick<Decision, 'actor' | 'reason' | 'hash' | 'signature'>

interface PlannedTables {
  approvals: ApprovalTable
  decisions: ApprovalDecisions
  replays: ReplayTable
}

/**
 * Starts a run of a stored event with an approval of just these effects, by a person's word. Any
 * other delete or write of the run is held. Throws as `decideApproval`.
 */
export async function startPlanned(
  { approvals, decisions, replays }: PlannedTables,
  planned: PlannedRun,
  word: PlannedWord,
  now: number,
): Promise<DecisionResult> {
  const { event, workflow, run: runId, approval: id, why, items, needs, expiresAt } = planned
  await replays.startPlanned(planned, now)
  if (items.length === 0) return { status: 'approved', granted: 0, moved: 0, next: null, woken: 0, missing: 0 }
  const { account } = event
  const about = { id, kind: 'guard', askedBy: planAskedBy({ runId, account }), workflow, account, why } as const
  const approval = await approvals.open({ ...about, needs, role: null, question: null, openedAt: now, expiresAt })
  await approvals.join(
    approval,
    items.map((item) => ({ ...item, runId })),
  )
  return decisions.decideApproval({ ...word, approval: id, verdict: 'approved', only: null, answer: null }, now)
}
