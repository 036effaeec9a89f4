import { findStorage } from '../../../../core/service/storage.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import { openFiles } from '../../files/files-client.ts'

/** Files that a delete of ours ended, as the service answers now. */
export interface LookedUp {
  asked: number
  /** Targets that the service has. */
  there: string[]
}

/** Asks the service for each target, one request at a time. Throws where it does not answer. */
export async function lookUpDeletes(config: Config, targets: readonly string[]): Promise<LookedUp> {
  const looked: LookedUp = { asked: 0, there: [] }
  if (targets.length === 0) return looked
  const spellings = config.service.kind === 'real' ? config.service.storages : {}
  await using files = await openFiles(config)
  for (const target of targets) {
    const end = target.indexOf(':')
    const service = findStorage(target.slice(0, end), spellings)
    if (service === null) continue
    looked.asked += 1
    if ((await files.find({ service, id: target.slice(end + 1) })) !== null) looked.there.push(target)
  }
  return looked
}
