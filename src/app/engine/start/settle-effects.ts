import { hostname } from 'node:os'
import { UpshotError } from '../../../core/errors.ts'
import { LASTING_TARGET } from '../../../core/safety/audit.ts'
import { type EffectsMode, presentMode } from '../../../core/safety/stop.ts'
import { listSwitches, SWITCH_ACTION } from '../../../core/store/list-switches.ts'
import { PROCESS_SILENCE_MS, type ProcessRecord } from '../../../core/store/process-record.ts'
import type { Store } from '../../../core/store/store.ts'
import { readUser } from '../../../project/read-user.ts'

type ModeStore = Pick<Store, 'listActions' | 'recordAction' | 'listProcesses'>

/** Roles with a worker: all workers of a database act, or none does. */
const WORKING: readonly string[] = ['all', 'worker']

/**
 * Notes the mode in which a process with a worker starts. Throws `conflict` where a process at work
 * has the other one. `self`: the id of this process. Returns whether the mode changed.
 */
export async function settleEffects(
  store: ModeStore,
  { mode, self, now }: { mode: EffectsMode; self: string; now: number },
): Promise<boolean> {
  const before = presentMode(await listSwitches(store))
  if (before === mode) return false
  const isAtWork = ({ id, role, seenAt }: ProcessRecord) =>
    id !== self && WORKING.includes(role) && seenAt > now - PROCESS_SILENCE_MS
  const other = (await store.listProcesses()).find(isAtWork)
  if (other) throw describeConflict(other, { before, mode })
  const who = { actor: `app:${readUser()}`, role: 'owner', from: hostname(), reason: null }
  const action = { action: SWITCH_ACTION, target: LASTING_TARGET, parameters: { before, to: mode } }
  await store.recordAction({ ...who, ...action, at: now }, 'done')
  return true
}

function describeConflict(
  { pid, role }: ProcessRecord,
  { before, mode }: { before: EffectsMode; mode: EffectsMode },
): UpshotError {
  const message =
    `UPSHOT_EFFECTS is ${mode} here, but process ${pid} (role ${role}) works on this database with ${before}. ` +
    'One database either acts or plans.'
  const fix =
    `Stop every process of this database, and start them with UPSHOT_EFFECTS=${mode}. ` +
    `A killed process counts as stopped after ${PROCESS_SILENCE_MS / 1_000} s.`
  return new UpshotError('conflict', message, { details: { fix } })
}
