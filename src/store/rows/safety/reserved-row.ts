import type { EffectClass } from '../../../core/safety/effect.ts'
import type { EffectSource } from '../../../core/safety/guard.ts'

/** Places that are counted for effects of a list that have not begun. */
export interface ReservedRow {
  run_id: string
  fence: number
  list: number
  class: EffectClass
  storage: string
  workflow: string
  account: string
  at: number
  count: number
  bytes: number
}

export function sourceOfReserved({ run_id: runId, workflow, account, storage }: ReservedRow): EffectSource {
  return { runId, workflow, account, storage: storage === '' ? null : storage }
}
