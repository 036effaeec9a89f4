import type { Checkpoint } from '../../../core/runs/step.ts'
import type { SavedWithStep } from '../../../core/runs/wait.ts'

/** True where the end of a step ends an effect: a delete, or a write with a target. */
export function isInLedger({ status, effect, target }: Checkpoint, saved: SavedWithStep | undefined): boolean {
  if (effect === 'read' || (status !== 'completed' && status !== 'failed')) return false
  return effect === 'delete' || target !== null || saved?.effect !== undefined
}
