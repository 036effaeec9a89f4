import { hostname } from 'node:os'
import type { Anchor } from '../../../core/safety/ledger/anchor.ts'
import { isSameMac, type Seal } from '../../../core/safety/ledger/seal.ts'
import { asOperator } from '../../../core/store/as-operator.ts'
import type { Store } from '../../../core/store/store.ts'
import { isoTime } from '../../../core/time.ts'
import { readUser } from '../../../project/read-user.ts'

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
  const actor = `app:${readUser()}`
  const stops = asOperator(store, { actor, role: 'owner', from: hostname(), reason }, { now: () => now })
  return await stops.stopEffects({ kind: 'all', name: '', actor, reason, since: now })
}

/** True where the chain of seals has the anchor, or a person said why it does not. */
async function isKnown(store: Pick<Store, 'listSeals'>, { seal, mac, at }: Anchor): Promise<boolean> {
  const [sealed] = await store.listSeals({ after: seal - 1, limit: 1 })
  if (sealed?.number === seal && isSameMac(sealed.mac, mac)) return true
  for (let after = 0; ; ) {
    const page: Seal[] = await store.listSeals({ after, limit: SEALS_A_PAGE })
    if (page.some((each) => each.kind === 'restored' && each.number <= seal && at <= each.at)) return true
    const last = page.at(-1)
    if (page.length < SEALS_A_PAGE || last === undefined) return false
    after = last.number
  }
}
