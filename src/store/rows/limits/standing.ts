import type { Gate } from '../../../core/runs/admission.ts'

/** A gate of one workflow for one key. */
export type GateKey = [workflow: string, gate: Gate['name'], key: string]

/** How many runs a gate admits. */
export type GateRule = Pick<Gate, 'most' | 'perMs'>

/** A run on its way through its gates. */
export interface Candidate {
  runId: string
  workflow: string
  priority: number
  gates: readonly Gate[]
  /** The latest moment at which a run in line is claimed again; null: only once it is admitted. */
  wakeAt: number | null
}

/** Why a run stands in line, and when it is due. */
export interface Standing {
  reason: string
  dueAt: number | null
}

/** The row of the run that a gate admits next. */
export interface FirstInLine {
  rank: number
  run_id: string
  wake_at: number | null
}

/** The earlier of two moments; null: never. */
export function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
