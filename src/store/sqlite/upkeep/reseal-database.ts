import type { Database } from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import type { AuditEntry } from '../../../core/safety/audit.ts'
import { AuditTable } from '../../tables/safety/audit-table.ts'
import { EffectSearch } from '../../tables/safety/effect-search.ts'
import { SealTable } from '../../tables/safety/seal-table.ts'
import {
  accountOwner,
  approverOwner,
  captureOwner,
  createVault,
  HOOK_KEY_OWNER,
  hookOwner,
  sealKeyOwner,
  type Vault,
} from '../../vault.ts'
import { openConnection } from '../database/connection.ts'
import { migrate } from '../database/migrate.ts'
import { openAlone, openMigrated } from '../database/open-database.ts'
import { translateFault } from '../database/storage-fault.ts'

/** How many secrets of each kind were sealed again. */
export interface Resealed {
  webhookSecrets: number
  apiKeys: number
  captures: number
  /** Keys of the chain over the effect ledger. */
  sealKeys: number
  approvers: number
  /** Secrets of those who sign callbacks, and the key of the tokens. */
  hooks: number
}

/** The columns of the primary key, and the sealed value. */
interface Row {
  sealed: Uint8Array
  [column: string]: string | number | Uint8Array
}

interface SealedColumn {
  counts: keyof Resealed
  table: string
  /** Default `sealed`. */
  column?: string
  /** Columns that identify a row. */
  key: readonly string[]
  /** The owner that the vault bound the value to, given the values of those columns. */
  ownerOf: (...key: [string, string]) => string
}

const SEALED_COLUMNS: readonly SealedColumn[] = [
  { counts: 'webhookSecrets', table: 'endpoint_secret', key: ['endpoint_id', 'position'], ownerOf: (id) => id },
  {
    counts: 'apiKeys',
    table: 'account',
    column: 'api_key',
    key: ['name'],
    ownerOf: (name) => accountOwner(name, 'key'),
  },
  {
    counts: 'apiKeys',
    table: 'account',
    column: 'fallback_key',
    key: ['name'],
    ownerOf: (name) => accountOwner(name, 'fallback'),
  },
  { counts: 'captures', table: 'capture', key: ['endpoint_id', 'id'], ownerOf: captureOwner },
  { counts: 'sealKeys', table: 'effect_key', key: ['number'], ownerOf: sealKeyOwner },
  { counts: 'approvers', table: 'approver', key: ['number'], ownerOf: approverOwner },
  { counts: 'hooks', table: 'hook', key: ['id'], ownerOf: hookOwner },
  { counts: 'hooks', table: 'hook_key', key: ['number'], ownerOf: () => HOOK_KEY_OWNER },
]

/**
 * Seals every secret of a database under another key, in one commit. Throws `invalid_config` if one
 * does not open with the present key; then nothing changes. Throws `conflict` while another process
 * has the file open: it would keep the old key. The audit row is in that commit, and the chain over
 * the effect ledger goes on with a new key.
 */
export async function resealDatabase(
  file: string,
  keys: { present: Buffer; next: Buffer },
  entry: AuditEntry,
): Promise<Resealed> {
  const [present, next] = [createVault(keys.present), createVault(keys.next)]
  const counts: Resealed = { webhookSecrets: 0, apiKeys: 0, captures: 0, sealKeys: 0, approvers: 0, hooks: 0 }
  const db = openAlone(file)
  try {
    migrate(db)
    const connection = openConnection(db)
    db.exec('BEGIN IMMEDIATE')
    await new AuditTable(connection).recordAction(entry, 'done')
    for (const place of SEALED_COLUMNS) counts[place.counts] += reseal(db, place, { present, next })
    await new SealTable(connection, { vault: next, effects: new EffectSearch(connection) }).rekey(entry.at)
    db.exec('COMMIT')
    return counts
  } catch (error) {
    throw translateFault(error, file)
  } finally {
    // Undoes what is not committed.
    db.close()
  }
}

/** Whether this key opens every secret. Throws `store_unavailable` for a damaged database. */
export function opensDatabase(file: string, key: Buffer): boolean {
  const vault = createVault(key)
  const db = openMigrated(file)
  try {
    for (const place of SEALED_COLUMNS) {
      for (const row of listRows(db, place)) vault.open(ownerOf(place, row), row.sealed)
    }
    return true
  } catch (error) {
    // A page that cannot be read says nothing about the key.
    if (error instanceof UpshotError) return false
    throw translateFault(error, file)
  } finally {
    db.close()
  }
}

function reseal(db: Database, place: SealedColumn, { present, next }: { present: Vault; next: Vault }): number {
  const { table, column = 'sealed', key } = place
  const condition = key.map((name) => `${name} = ?`).join(' AND ')
  const save = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${condition}`)
  const rows = listRows(db, place)
  for (const row of rows) {
    const owner = ownerOf(place, row)
    save.run(next.seal(owner, present.open(owner, row.sealed)), ...key.map((name) => row[name]))
  }
  return rows.length
}

function ownerOf({ key, ownerOf }: SealedColumn, row: Row): string {
  return ownerOf(String(row[key[0] ?? '']), String(row[key[1] ?? '']))
}

function listRows(db: Database, { table, column = 'sealed', key }: SealedColumn): Row[] {
  const columns = [...key, `${column} AS sealed`].join(', ')
  return db.prepare<[], Row>(`SELECT ${columns} FROM ${table} WHERE ${column} IS NOT NULL`).all()
}
