import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../../core/json.ts'
import { DEFAULT_POLICY, type GuardPolicy } from '../../../core/safety/guard.ts'
import type { Store } from '../../../core/store/store.ts'
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
  const who = { actor: `app:${readUser()}`, role: 'owner', from: hostname(), reason: null }
  const action = { action: 'guard.change', target: TARGET, parameters: { before, to } }
  await store.recordAction({ ...who, ...action, at: now }, 'done')
}

/** As the audit log gives it back. */
function toJsonValue(policy: GuardPolicy): JsonValue {
  return JSON.parse(JSON.stringify(policy))
}
