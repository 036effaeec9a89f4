import type { Database } from 'better-sqlite3'
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
import { GroupCommit } from '../database/group-commit.ts'
import { openMigrated } from '../database/open-database.ts'

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
  column: string
  /** Columns that identify a row. */
  key: readonly string[]
  /** The owner that the vault bound the value to. */
  ownerOf: (row: Row) => string
}

const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    counts: 'webhookSecrets',
    table: 'endpoint_secret',
    column: 'sealed',
    key: ['endpoint_id', 'position'],
    ownerOf: (row) => String(row.endpoint_id),
  },
  {
    counts: 'apiKeys',
    table: 'account',
    column: 'api_key',
    key: ['name'],
    ownerOf: (row) => accountOwner(String(row.name), 'key'),
  },
  {
    counts: 'apiKeys',
    table: 'account',
    column: 'fallback_key',
    key: ['name'],
    ownerOf: (row) => accountOwner(String(row.name), 'fallback'),
  },
  {
    counts: 'captures',
    table: 'capture',
    column: 'sealed',
    key: ['id', 'endpoint_id'],
    ownerOf: (row) => captureOwner(String(row.endpoint_id), String(row.id)),
  },
  {
    counts: 'sealKeys',
    table: 'effect_key',
    column: 'sealed',
    key: ['number'],
    ownerOf: (row) => sealKeyOwner(String(row.number)),
  },
  {
    counts: 'approvers',
    table: 'approver',
    column: 'sealed',
    key: ['number'],
    ownerOf: (row) => approverOwner(String(row.number)),
  },
  {
    counts: 'hooks',
    table: 'hook',
    column: 'sealed',
    key: ['id'],
    ownerOf: (row) => hookOwner(String(row.id)),
  },
  {
    counts: 'hooks',
    table: 'hook_key',
    column: 'sealed',
    key: ['number'],
    ownerOf: () => HOOK_KEY_OWNER,
  },
]

/**
 * Seals every secret of a database under another key, in one commit. Throws `invalid_config` if one
 * does not open with the present key; then nothing changes. The audit row is in that commit, and
 * the chain over the effect ledger goes on with a new key.
 */
export async function resealDatabase(
  file: string,
  keys: { present: Buffer; next: Buffer },
  entry: AuditEntry,
): Promise<Resealed> {
  const [present, next] = [createVault(keys.present), createVault(keys.next)]
  const counts: Resealed = { webhookSecrets: 0, apiKeys: 0, captures: 0, sealKeys: 0, approvers: 0, hooks: 0 }
  const db = openMigrated(file)
  try {
    const connection = openConnection(db)
    await new GroupCommit(db).write(async () => {
      await new AuditTable(connection).recordAction(entry, 'done')
      for (const place of SEALED_COLUMNS) counts[place.counts] += reseal(db, place, { present, next })
      await new SealTable(connection, { vault: next, effects: new EffectSearch(connection) }).rekey(entry.at)
    })
    return counts
  } finally {
    db.close()
  }
}

/** Whether this key opens every secret of a database. */
export function opensDatabase(file: string, key: Buffer): boolean {
  const vault = createVault(key)
  const db = openMigrated(file)
  try {
    return SEALED_COLUMNS.every((place) =>
      listRows(db, place).every((row) => {
        try {
          vault.open(place.ownerOf(row), row.sealed)
          return true
        } catch {
          return false
        }
      }),
    )
  } finally {
    db.close()
  }
}

function reseal(db: Database, place: SealedColumn, { present, next }: { present: Vault; next: Vault }): number {
  const { table, column, key, ownerOf } = place
  const condition = key.map((name) => `${name} = ?`).join(' AND ')
  const save = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${condition}`)
  const rows = listRows(db, place)
  for (const row of rows) {
    const owner = ownerOf(row)
    save.run(next.seal(owner, present.open(owner, row.sealed)), ...key.map((name) => row[name]))
  }
  return rows.length
}

function listRows(db: Database, { table, column, key }: SealedColumn): Row[] {
  const columns = [...key, `${column} AS sealed`].join(', ')
  return db.prepare<[], Row>(`SELECT ${columns} FROM ${table} WHERE ${column} IS NOT NULL`).all()
}
