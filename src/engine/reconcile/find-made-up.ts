import type { FileFunctions } from '../../author/event-keys.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import { FILE_TYPES, type FileType } from '../../core/service/sweep/sweep-plan.ts'
import type { Store } from '../../core/store/store.ts'
import { readFile } from './match-files.ts'

/** Time for which a made-up event stands in for the real one. */
const STANDS_IN_MS = 30 * 24 * 60 * 60_000

/** The made-up event that told of the file of this one before; null: none. */
export async function findMadeUp(
  event: EventRecord,
  parts: {
    store: Pick<Store, 'findFinding'>
    functions: () => ReadonlyMap<string, FileFunctions>
    spellingsOf: (account: string) => StorageSpellings | Promise<StorageSpellings>
  },
): Promise<string | null> {
  const { account, type, body, origin, receivedAt } = event
  if (origin === 'reconcile' || !isFileType(type)) return null
  const found = readFile(parts.functions().get(type), body, await parts.spellingsOf(account))
  if (found === null || found === 'none') return null
  const finding = await parts.store.findFinding({ account, type, ...found })
  if (finding?.state !== 'made' || finding.foundAt < receivedAt - STANDS_IN_MS) return null
  return finding.event
}

function isFileType(type: string): type is FileType {
  return type === FILE_TYPES.created || type === FILE_TYPES.deleted
}
