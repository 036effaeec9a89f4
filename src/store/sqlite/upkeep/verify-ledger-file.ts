import Database from 'better-sqlite3'
import {
  type LedgerCheck,
  type LedgerReads,
  type LedgerReport,
  verifyLedger,
} from '../../../core/safety/ledger/verify-ledger.ts'
import { ApprovalSearch } from '../../tables/approvals/approval-search.ts'
import { ApproverTable } from '../../tables/approvals/approver-table.ts'
import { VoteTable } from '../../tables/approvals/vote-table.ts'
import { EffectSearch } from '../../tables/safety/effect-search.ts'
import { SealTable } from '../../tables/safety/seal-table.ts'
import { createVault } from '../../vault.ts'
import { openConnection } from '../database/connection.ts'
import { requireLatest } from '../database/migrate.ts'

/** Verifies the effect ledger of a database or a backup, and changes nothing. */
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
    const connection = openConnection(db)
    const effects = new EffectSearch(connection)
    const vault = createVault(vaultKey)
    const seals = new SealTable(connection, { vault, effects })
    const votes = new VoteTable(connection)
    const approvals = new ApprovalSearch(connection)
    const approvers = new ApproverTable(connection, { vault })
    const reads: LedgerReads = {
      listEffects: (query) => effects.listEffects(query),
      listSeals: (query) => seals.listSeals(query),
      listSealKeys: () => seals.listSealKeys(),
      listLostBegins: (query) => effects.listLostBegins(query),
      listVotes: (query) => votes.listVotes(query),
      findApproval: (id, now) => approvals.findApproval(id, now),
      listApprovalItems: (query) => approvals.listApprovalItems(query),
      listApprovers: () => approvers.listApprovers(),
    }
    return await verifyLedger(reads, options)
  } finally {
    db.close()
  }
}
