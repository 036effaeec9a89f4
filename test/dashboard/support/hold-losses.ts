import type { FileFinding } from '../../../src/core/service/sweep/judge-file.ts'
import { beginSweep, newState } from '../../../src/core/service/sweep/sweep-state.ts'
import type { Store } from '../../../src/core/store/store.ts'

const KEY = { account: 'default', storage: 'storage_a' } as const
const PLAN = { ...KEY, path: '/', recursive: true, everyMs: 1, budget: 0.1, graceMs: 1, repair: 'events' } as const
const UNTOLD = { reason: null, approval: null, event: null, lateEvent: null } as const

/** Ends a sweep that found files of which no event told, so many that people decide. */
export async function holdLosses(store: Store, paths: readonly string[]): Promise<void> {
  const now = Date.now()
  const state = beginSweep(newState(PLAN, null), now)
  await store.saveSweep({ ...KEY, state, version: 0, forgottenTo: null })
  const findings = paths.map((path, index): FileFinding => {
    const found = { type: 'file.created', state: 'found', sweep: 2, foundAt: now } as const
    return { ...KEY, ...found, ...UNTOLD, file: `fil_${index}`, path, entry: '{}' }
  })
  const why = `no event told of ${paths.length} of the 20 files of storage_a: make their events up?`
  const held = { why, needs: 1, now, expiresAt: now + 86_400_000 }
  await store.saveSweep({ ...KEY, state, version: 1, forgottenTo: null }, { findings, settle: { state: 'held', held } })
}
