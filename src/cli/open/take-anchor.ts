import { type Anchor, anchorOf } from '../../core/safety/ledger/anchor.ts'
import type { Store } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import { appendAnchor } from '../../project/data-dir/anchor-file.ts'
import { commandClock } from './command-clock.ts'

/** Seals the effect ledger and appends its end to the anchor file. Null without rows. */
export async function takeAnchor(
  store: Pick<Store, 'readSealState' | 'sealEffects'>,
  { anchorFile = null }: Pick<Config, 'anchorFile'>,
  { isDryRun = false }: { isDryRun?: boolean } = {},
): Promise<Anchor | null> {
  const { sealLedger } = await import('../../schedule/sealer.ts')
  const { head } = isDryRun ? await store.readSealState() : await sealLedger(store, commandClock)
  if (head === null) return null
  const anchor = anchorOf(head, commandClock.now())
  if (anchorFile !== null && !isDryRun) appendAnchor(anchorFile, anchor)
  return anchor
}
