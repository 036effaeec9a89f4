import type { StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import { type Db, statement } from '../state/database.ts'

/** The state of a transfer; the last three are final. */
export type TransferStatus = 'queued' | 'running' | 'completed' | 'failed' | 'canceled'

/** The source or the destination of a transfer. */
export interface TransferEnd {
  service: StorageName
  path: string
  /** Null for a whole storage, and at the destination until the file arrived. */
  fileId: string | null
}

/** Why a transfer failed or was canceled. */
export interface TransferError {
  code: string
  message: string
  /** In a folder's transfer, the source path where it ended. */
  path?: string
}

/** A transfer as events carry it. The service documents none of these fields. */
export interface TransferRecord {
  /** `trf_…` */
  id: string
  /** One file, or a folder with everything in it. */
  type: 'file' | 'folder'
  source: TransferEnd
  destination: TransferEnd
  status: TransferStatus
  /** Number of files; in a folder, at every depth. */
  filesTotal: number
  filesDone: number
  /** Files counted as done because they existed and were kept. */
  filesKept: number
  bytesTotal: number
  bytesDone: number
  /** ISO 8601; null while it is queued. */
  startedAt: string | null
  /** ISO 8601; null until it has ended. */
  finishedAt: string | null
  /** Only if it failed or was canceled. */
  error?: TransferError
}

export interface Transfer {
  id: string
  type: 'file' | 'folder'
  source: TransferEnd
  destination: TransferEnd
  status: TransferStatus
  existing: 'replace' | 'keep'
  /** The share of bytes after which it fails; null: never. */
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
         VALUES (@id, @type, @status, @source, @destination, @existing, @failAt, @filesTotal, @filesDone, @filesKept,
           @bytesTotal, @bytesDone, @createdAt, @startedAt, @finishedAt, @error)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, destination = excluded.destination,
           files_done = excluded.files_done, files_kept = excluded.files_kept, bytes_done = excluded.bytes_done,
           started_at = excluded.started_at, finished_at = excluded.finished_at, error = excluded.error`,
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

  /** Transfers that have not ended. Served by transfers_open. */
  open(): Transfer[] {
    const sql = `SELECT ${COLUMNS} FROM transfers WHERE status IN ('queued', 'running') ORDER BY rowid`
    return statement<[], TransferRow>(this.#db, sql).all().map(fromRow)
  }
}

export function toTransferRecord(transfer: Transfer): TransferRecord {
  const { id, type, source, destination, status, startedAt, finishedAt, error } = transfer
  const { filesTotal, filesDone, filesKept, bytesTotal, bytesDone } = transfer
  return {
    id,
    type,
    source,
    destination,
    status,
    filesTotal,
    filesDone,
    filesKept,
    bytesTotal,
    bytesDone,
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
