import { dirname } from 'node:path'
import type { Seal } from '../../../core/safety/ledger/seal.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { loadAnchors } from '../../../project/data-dir/anchor-file.ts'
import { commandClock } from '../../open/command-clock.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** The app anchors every hour, and seals every five seconds. */
const OLD_ANCHOR_MS = 2 * 3_600_000
const OLD_ROW_MS = 10 * 60_000

/** Checks that the effect ledger is sealed and anchored. No finding without rows. */
export async function checkLedger(store: Pick<ReadStore, 'readSealState'>, config: Config): Promise<Finding[]> {
  const { head, unsealed, unsealedSince } = await store.readSealState()
  const now = commandClock.now()
  if (unsealedSince !== null && unsealedSince < now - OLD_ROW_MS) {
    const found = `${unsealed} rows have had no seal for over ten minutes`
    return [warn('effect ledger', found, { fix: 'Run a process with the role all or scheduler: it seals them.' })]
  }
  return head === null ? [] : [checkAnchors(config, head, now)]
}

function checkAnchors({ anchorFile = null, dataDir, database, service }: Config, head: Seal, now: number): Finding {
  const sealed = `sealed up to row ${head.last}`
  if (anchorFile === null) return ok('effect ledger', sealed)
  const newest = loadAnchors(anchorFile).at(-1)
  if (newest === undefined) {
    const fix = 'Append to it with "upshot effects anchor", or see the log of the app.'
    return warn('effect ledger', `${sealed}, and ${anchorFile} has no anchor`, { fix })
  }
  if (newest.seal > head.number) {
    return fail('effect ledger', `it ends at seal ${head.number}, before its newest anchor (seal ${newest.seal})`, {
      fix: 'If you restored a backup: upshot effects restored --reason "…". Otherwise rows are lost.',
    })
  }
  const isBehind = newest.seal < head.number && head.at < now - OLD_ANCHOR_MS && newest.at < head.at
  const isBeside = !database && service.kind === 'real' && dirname(anchorFile) === dataDir
  if (isBeside) {
    return warn('effect ledger', `${sealed}, and anchored in the log and beside the database only`, {
      fix: 'Name a file on another disk with UPSHOT_ANCHOR_FILE: whoever can change one file can change both.',
    })
  }
  if (!isBehind) return ok('effect ledger', `${sealed}, anchored up to row ${newest.last}`)
  return warn('effect ledger', `${sealed}, and its newest anchor ends at row ${newest.last}`, {
    fix: 'Run a process with the role all or scheduler and this UPSHOT_ANCHOR_FILE.',
  })
}
