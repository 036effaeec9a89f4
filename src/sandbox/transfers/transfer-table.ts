import type { StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import type { Db } from '../state/database.ts'
import { statement } from '../state/statement.ts'

/** How far a transfer is: the last three are its ends. */
export type TransferStatus = 'queued' | 'running' | 'completed' | 'failed' | 'canceled'

/** One end of a transfer. */
export interface TransferEnd {
  service: StorageName
  path: string
  /** Null at the destination until something is there, and for a whole storage. */
  fileId: string | null
}

/** Why a transfer ended early. */
export interface TransferError {
  code: string
  message: string
  /** The entry at the source where it ended; only for a folder. */
  path?: string
}

/**
 * A transfer as events carry it: the service shows none of its fields, so all of them are assumed.
 */
export interface TransferRecord {
  /** `trf_…` */
  id: string
  /** What is copied: one file, or a folder with everything in it. */
  type: 'file' | 'folder'
  source: TransferEnd
  destination: TransferEnd
  status: TransferStatus
  /** Of a folder: of all files in it. */
  filesTotal: number
  filesDone: number
  /** How many of those done were there already, and were kept. */
  filesKept: number
  bytesTotal: number
  bytesDone: number
  startedAt: string | null
  finishedAt: string | null
  /** Only where it failed or was canceled. */
  error?: TransferError
}

export interface Transfer {
  id: string
  type: 'file' | 'folder'
  source: TransferEnd
  destination: TransferEnd
  status: TransferStatus
  existing: 'replace' | 'keep'
  /** The part of the bytes after which it is told to fail; null: never. */
  failAt: number | null
  filesTotal: number
  filesDone: number
  filesKept: number
  bytesTotal: number
  bytesDone: number
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  error: TransferError | null
}

type TransferRow = Omit<Transfer, 'source' | 'destination' | 'error'> &
  Record<'source' | 'destination', string> & {
    error: string | null
  }

const COLUMNS = `id, type, status, source, destination, existing, fail_at AS failAt, files_total AS filesTotal,
  files_done AS filesDone, files_kept AS filesKept, bytes_total AS bytesTotal, bytes_done AS bytesDone,
  created_at AS createdAt, started_at AS startedAt, finished_at AS finishedAt, error`

/** The transfers' rows. */
export class TransferTable {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  save(transfer: Transfer): void {
    statement(
      this.#db,
      `INSERT INTO transfers
           (id, type, status, source, destination, existing, fail_at, files_total, files_done, files_kept, bytes_total,
            bytes_done, created_at, started_at, finished_at, error)
         VALUES (@id, @type, @status, @source, @destination, @existing, @failAt, @filesTotal, @filesDone, @filesKept, @bytesTotal,
           @bytesDone, @createdAt, @startedAt, @finishedAt, @error)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, destination = excluded.destination,
           files_done = excluded.files_done, files_kept = excluded.files_kept, bytes_done = excluded.bytes_done, started_at = excluded.started_at, finished_at = excluded.finished_at,
           error = excluded.error`,
    ).run({
      ...transfer,
      source: JSON.stringify(transfer.source),
      destination: JSON.stringify(transfer.destination),
      error: transfer.error && JSON.stringify(transfer.error),
    })
  }

  find(id: string): Transfer | undefined {
    const row = statement<[string], TransferRow>(this.#db, `SELECT ${COLUMNS} FROM transfers WHERE id = ?`).get(id)
    return row && fromRow(row)
  }

  /** Oldest first. */
  list(): Transfer[] {
    return statement<[], TransferRow>(this.#db, `SELECT ${COLUMNS} FROM transfers ORDER BY rowid`).all().map(fromRow)
  }

  /** Those that have not ended. Served by transfers_open. */
  open(): Transfer[] {
    const sql = `SELECT ${COLUMNS} FROM transfers WHERE status IN ('queued', 'running') ORDER BY rowid`
    return statement<[], TransferRow>(this.#db, sql).all().map(fromRow)
  }
}

export function toTransferRecord(transfer: Transfer): TransferRecord {
  const { id, type, source, destination, status, startedAt, finishedAt, error } = transfer
  const { filesTotal, filesDone, filesKept, bytesTotal, bytesDone } = transfer
  return {
    ...{ id, type, source, destination, status },
    ...{ filesTotal, filesDone, filesKept, bytesTotal, bytesDone },
    startedAt: startedAt === null ? null : isoTime(startedAt),
    finishedAt: finishedAt === null ? null : isoTime(finishedAt),
    ...(error === null ? {} : { error }),
  }
}

function fromRow(row: TransferRow): Transfer {
  return {
    ...row,
    source: JSON.parse(row.source),
    destination: JSON.parse(row.destination),
    error: row.error === null ? null : JSON.parse(row.error),
  }
}
