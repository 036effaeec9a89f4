import type { EffectPhase, EffectRecord, FileState } from '../safety/effect.ts'

/** Facts of an ask that are not the effect's own. Moments are epoch milliseconds. */
export interface AskOptions {
  now: number
  /** True: all of the asks are granted, or none. Default false. */
  together?: boolean
  /** Hash of the code, where the run's row has none yet. */
  codeHash?: string | undefined
  /** When an approval that this ask opens expires. */
  expiresAt: number
  /** Distinct people who have to agree to an approval that this ask opens. */
  needs: number
}

export interface EndByHand {
  /** Number of the row that begins it. */
  seq: number
  outcome: string
  error: string | null
  /** The state that its look found; null where it has not looked. */
  before: FileState | null
}

/** Selects rows of the effect ledger; every part narrows. */
export interface EffectFilter {
  phases?: readonly EffectPhase[]
  /** A target such as `storage_a:fil_1`. */
  target?: string
  /** Path of a deleted file. */
  path?: string
  runId?: string
  workflow?: string
  account?: string
  class?: EffectRecord['class']
  /** Such as `deleted` or `failed`. */
  outcome?: string
  since?: number
  until?: number
}

export interface GuardUse {
  scope: string
  /** `approved`: by a person; it fills no window. */
  class: 'delete' | 'write' | 'approved'
  window: 'hour' | 'day'
  count: number
  bytes: number
}
