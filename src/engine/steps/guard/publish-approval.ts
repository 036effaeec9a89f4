import type { Checkpoint } from '../../../core/runs/step.ts'
import type { ClosedApproval, EffectPermit } from '../../../core/safety/effect.ts'
import { aboutRun, type Pass } from '../../pass/pass.ts'

/** Tells of an approval, where this step's ask opened it. */
export function publishHold(pass: Pass, { key }: Checkpoint, permit: Extract<EffectPermit, { kind: 'held' }>): void {
  const { approval, opened, reason, rule = null } = permit
  if (approval === null || !opened) return
  pass.publish({ kind: 'approval.opened', approval, ...aboutRun(pass), step: key, reason, rule })
}

/** Tells of the end of an approval that this step is the first to act on. */
export function publishEnd(pass: Pass, { key }: Pick<Checkpoint, 'key'>, { id, status }: ClosedApproval): void {
  pass.publish({ kind: 'approval.closed', approval: id, ...aboutRun(pass), step: key, status })
}
