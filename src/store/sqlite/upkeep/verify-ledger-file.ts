import Database from 'better-sqlite3'
import type { Anchor } from '../../../core/safety/ledger/anchor.ts'
import { type LedgerReads, type LedgerReport, verifyLedger } from '../../../core/safety/ledger/verify-ledger.ts'
import { createVault } from '../../vault.ts'
import { EffectSearch } from '../safety/effect-search.ts'
import { SealTable } from '../safety/seal-table.ts'
import { VoteTable } from '../safety/vote-table.ts'

/** Verifies the effect ledger of a database or a backup, and changes nothing. */
export async function verifyLedgerFile(
  file: string,
  vaultKey: Buffer,
  options: { anchors?: readonly Anchor[] } = {},
): Promise<LedgerReport> {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    // One snapshot: pruning beside it would take rows away between two pages.
    db.exec('BEGIN')
    const effects = new EffectSearch(db)
    const seals = new SealTable(db, createVault(vaultKey), effects)
    const votes = new VoteTable(db)
    const reads: LedgerReads = {
      listEffects: async ({ after, limit }) => effects.listAfter(after, { limit }),
      listSeals: async ({ after, limit }) => seals.list(after, limit),
      listSealKeys: async () => seals.keys(),
      listVotes: async (query) => votes.list(query),
    }
    return await verifyLedger(reads, options)
  } finally {
    db.close()
  }
}
