import type { EffectClass } from '../../../core/safety/effect.ts'
import type { EffectSource } from '../../../core/safety/guard.ts'

/** Places that are counted for effects of a list that have not begun. */
export interface ReservedRow {
  run_id: string
  fence: number
  list: number
  class: EffectClass
  storage: string
  /** Empty where it is not known. */
  folder: string
  workflow: string
  account: string
  at: number
  count: number
  bytes: number
}

export function sourceOfReserved({ run_id: runId, workflow, account, storage, folder }: ReservedRow): EffectSource {
  return { runId, workflow, account, storage: storage === '' ? null : storage, folder: folder === '' ? null : folder }
}
