import Database from 'better-sqlite3'
import type { Anchor } from '../../../core/safety/anchor.ts'
import { type LedgerReport, verifyLedger } from '../../../core/safety/verify-ledger.ts'
import { createVault } from '../../vault.ts'
import { EffectTable } from '../safety/effect-table.ts'
import { GuardTable } from '../safety/guard-table.ts'
import { SealTable } from '../safety/seal-table.ts'

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
    const effects = new EffectTable(db, new GuardTable(db))
    const seals = new SealTable(db, createVault(vaultKey), effects)
    const reads = {
      listEffects: async (query: { after: number; limit: number }) => effects.list(query),
      listSeals: async ({ after, limit }: { after: number; limit: number }) => seals.list(after, limit),
      listSealKeys: async () => seals.keys(),
    }
    return await verifyLedger(reads, options)
  } finally {
    db.close()
  }
}
