import { LASTING_TARGET } from '../safety/audit.ts'
import type { EffectsMode, EffectsSwitch } from '../safety/stop.ts'
import type { ReadStore } from './store.ts'

/** Action of the audit rows that say since when effects are planned, or live. */
export const SWITCH_ACTION = 'effects.switch'

/** Newest switches that are read. */
const MAX_SWITCHES = 1_000

/** The switches of a database, oldest first. */
export async function listSwitches(store: Pick<ReadStore, 'listActions'>): Promise<EffectsSwitch[]> {
  const rows = await store.listActions({ target: LASTING_TARGET, action: SWITCH_ACTION, limit: MAX_SWITCHES })
  return rows.map(({ at, parameters, from }) => ({ at, to: parameters.to as EffectsMode, from })).reverse()
}
