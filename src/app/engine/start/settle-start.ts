import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { UpshotError } from '../../../core/errors.ts'
import type { JsonValue } from '../../../core/json.ts'
import type { Publish } from '../../../core/notices.ts'
import { LASTING_TARGET } from '../../../core/safety/audit.ts'
import { DEFAULT_POLICY, type GuardPolicy } from '../../../core/safety/guard.ts'
import { type Anchor, isExplained } from '../../../core/safety/ledger/anchor.ts'
import { isSameMac, type Seal } from '../../../core/safety/ledger/seal.ts'
import { type EffectsMode, presentMode } from '../../../core/safety/stop.ts'
import { asOperator } from '../../../core/store/as-operator.ts'
import { listSwitches, SWITCH_ACTION } from '../../../core/store/list-switches.ts'
import { PROCESS_BEAT_MS, PROCESS_SILENCE_MS, type ProcessRecord } from '../../../core/store/process-record.ts'
import type { Store } from '../../../core/store/store.ts'
import { after, type Clock, isoTime } from '../../../core/time.ts'
import { readUser } from '../../../project/read-user.ts'

const TARGET = 'guard'

/** Leaves a row in the audit log where the guard's settings differ from those of the last start. */
export async function noteGuard(
  store: Pick<Store, 'listActions' | 'recordAction'>,
  policy: GuardPolicy,
  now: number,
): Promise<void> {
  const [last] = await store.listActions({ target: TARGET, action: 'guard.change', limit: 1 })
  const before = last?.parameters.to ?? toJsonValue(DEFAULT_POLICY)
  const to = toJsonValue(policy)
  if (isDeepStrictEqual(before, to)) return
  const action = { action: 'guard.change', target: TARGET, parameters: { before, to } }
  await store.recordAction({ ...describeApp(), ...action, at: now }, 'done')
}

/** As the audit log gives it back. */
function toJsonValue(policy: GuardPolicy): JsonValue {
  return JSON.parse(JSON.stringify(policy))
}

type ModeStore = Pick<Store, 'listActions' | 'recordAction' | 'listProcesses'>

/** Roles with a worker: all workers of a database act, or none does. */
const WORKING: readonly string[] = ['all', 'worker']

/**
 * Notes the mode in which a process with a worker starts. Throws `conflict` where a process at work
 * has the other one. `self`: the id of this process. Returns whether the mode changed.
 */
export async function settleEffects(
  store: ModeStore,
  { mode, ...parts }: { mode: EffectsMode } & StartParts,
): Promise<boolean> {
  const before = presentMode(await listSwitches(store))
  if (before === mode) return false
  const other = await findAtWork(store, parts)
  if (other) throw describeConflict(other, { before, mode })
  const action = { action: SWITCH_ACTION, target: LASTING_TARGET, parameters: { before, to: mode } }
  await store.recordAction({ ...describeApp(), ...action, at: parts.clock.now() }, 'done')
  return true
}

interface StartParts {
  self: string
  clock: Clock
  publish: Publish
}

/** Another process with a worker at work. One that was seen in the future must beat again. */
async function findAtWork(store: ModeStore, { self, clock, publish }: StartParts): Promise<ProcessRecord | undefined> {
  const isAtWork = ({ id, role, seenAt }: ProcessRecord) =>
    id !== self && WORKING.includes(role) && seenAt > clock.now() - PROCESS_SILENCE_MS
  const found = (await store.listProcesses()).filter(isAtWork)
  const ahead = found.find(({ seenAt }) => seenAt > clock.now() + PROCESS_SILENCE_MS)
  if (!ahead) return found[0]
  const ms = 2 * PROCESS_BEAT_MS
  publish({ kind: 'effects.awaited', pid: ahead.pid, seenAt: ahead.seenAt, ms })
  await new Promise<void>((resolve) => after(clock, ms, resolve))
  const hasBeaten = ({ id, seenAt }: ProcessRecord) => found.every((old) => old.id !== id || old.seenAt !== seenAt)
  return (await store.listProcesses()).find((each) => isAtWork(each) && hasBeaten(each))
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

type RestoredStore = Pick<Store, 'listSeals' | 'operate' | 'carryOutDecision'>

const SEALS_A_PAGE = 2_000

/**
 * Stops all effects where the database does not have this anchor. A backup is in its place then,
 * and its runs would act again. The stop holds until a person ends it. Returns whether it is new.
 * See decision 58.
 */
export async function stopRestored(store: RestoredStore, anchor: Anchor, now: number): Promise<boolean> {
  if (await isKnown(store, anchor)) return false
  const reason =
    `The database is older than the anchor of ${isoTime(anchor.at)}: a backup replaced it, whose runs would act ` +
    'again. Check them, confirm with "upshot effects restored --reason …", then run "upshot effects resume"'
  const app = { ...describeApp(), reason }
  const stops = asOperator(store, app, { now: () => now })
  return await stops.stopEffects({ kind: 'all', name: '', actor: app.actor, reason, since: now })
}

/** True where the chain of seals has the anchor, or a person said why it does not. */
async function isKnown(store: Pick<Store, 'listSeals'>, anchor: Anchor): Promise<boolean> {
  const [own] = await store.listSeals({ after: anchor.seal - 1, limit: 1 })
  if (own?.number === anchor.seal && isSameMac(own.mac, anchor.mac)) return true
  for (let after = 0; ; ) {
    const page: Seal[] = await store.listSeals({ after, limit: SEALS_A_PAGE })
    if (page.some((each) => each.kind === 'restored' && isExplained(anchor, each, own))) return true
    const last = page.at(-1)
    if (page.length < SEALS_A_PAGE || last === undefined) return false
    after = last.number
  }
}

/** The app as the actor of what it writes at its start. */
function describeApp() {
  return { actor: `app:${readUser()}`, role: 'owner', from: hostname(), reason: null } as const
}
