import Database from 'better-sqlite3'
import { type LedgerCheck, type LedgerReport, verifyLedger } from '../../core/safety/ledger/verify-ledger.ts'
import { createVault } from '../vault.ts'
import { requireLatest } from './database/migrate.ts'
import { translateFault } from './database/storage-fault.ts'
import { createReader } from './reader.ts'
import { openTables } from './tables.ts'

/**
 * Verifies the effect ledger of a database or a backup, and changes nothing. Throws
 * `store_unavailable` for a damaged file.
 */
export async function verifyLedgerFile(
  file: string,
  vaultKey: Buffer,
  options: LedgerCheck = {},
): Promise<LedgerReport> {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    // One snapshot: pruning beside it would take rows away between two pages.
    db.exec('BEGIN')
    requireLatest(db)
    return await verifyLedger(createReader(openTables(db, createVault(vaultKey))), options)
  } catch (error) {
    throw translateFault(error, file)
  } finally {
    db.close()
  }
}
