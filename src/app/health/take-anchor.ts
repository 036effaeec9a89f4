import { type Anchor, anchorOf } from '../../core/safety/ledger/anchor.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Config } from '../../project/config/load-config.ts'
import { appendAnchor } from '../../project/data-dir/anchor-file.ts'

/** Seals the effect ledger and appends its end to the anchor file. Null without rows. */
export async function takeAnchor(
  store: Pick<Store, 'readSealState' | 'sealEffects'>,
  clock: Clock,
  { anchorFile = null, isDryRun = false }: Pick<Config, 'anchorFile'> & { isDryRun?: boolean },
): Promise<Anchor | null> {
  const { sealLedger } = await import('../../schedule/sealer.ts')
  const { head } = isDryRun ? await store.readSealState() : await sealLedger(store, clock)
  if (head === null) return null
  const anchor = anchorOf(head, clock.now())
  if (anchorFile !== null && !isDryRun) appendAnchor(anchorFile, anchor)
  return anchor
}
