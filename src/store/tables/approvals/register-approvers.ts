import type { Approver } from '../../../core/safety/approval.ts'
import type { Note } from '../../rows/safety/effect-rows.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { StopTable } from '../safety/stop-table.ts'
import type { ApproverTable } from './approver-table.ts'

interface Registers {
  approvers: ApproverTable
  effects: EffectTable
  stops: StopTable
}

/** Adds a person, and tells the ledger, whose seals show where somebody takes them out again. */
export async function addApprover({ approvers, effects, stops }: Registers, approver: Approver): Promise<void> {
  await stops.lock()
  await approvers.add(approver)
  await effects.note(describeApprover('approver.add', approver, approver.addedAt))
}

/** Their later words do not count. False for an unknown name. */
export async function removeApprover(
  { approvers, effects, stops }: Registers,
  name: string,
  now: number,
): Promise<boolean> {
  await stops.lock()
  const removed = await approvers.remove(name, now)
  if (removed) await effects.note(describeApprover('approver.remove', removed, now))
  return removed !== null
}

function describeApprover(operation: string, { name, publicKey, roles }: Approver, at: number): Note {
  return { at, phase: 'noted', operation, actor: name, asked: JSON.stringify({ publicKey, roles }) }
}
