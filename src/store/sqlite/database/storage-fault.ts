import { UpshotError } from '../../../core/errors.ts'

/** Why the database cannot be used, as `details.reason` of `store_unavailable`. */
type FaultReason =
  | 'locked'
  | 'full'
  | 'read_only'
  | 'corrupt'
  | 'unreadable'
  | 'unwritable'
  | 'closed'
  | 'gone'
  | 'log_gone'
  | 'foreign_log'
  | 'replaced'
  | 'other_schema'

const OPEN = 'Make the data directory and its files "upshot.db", "-wal" and "-shm" writable for this user.'
const RESTORE = 'Stop the app, copy the data directory, run "upshot db verify", and restore a backup.'

/** Each fault in words, with the advice for it. */
const FAULTS: Record<FaultReason, { what: string; advice: string }> = {
  locked: {
    what: 'is locked by another process',
    advice:
      'While "upshot db move" or "upshot db reseal" is at work, wait for its end. ' +
      'Otherwise find that process, for example with "fuser", and end it.',
  },
  full: { what: 'is on a full disk', advice: 'Free some space. "upshot db prune" needs 10 MB of it to remove rows.' },
  read_only: { what: 'is read-only', advice: OPEN },
  corrupt: { what: 'is damaged', advice: RESTORE },
  closed: { what: 'cannot be opened', advice: OPEN },
  unreadable: { what: 'cannot be read or written', advice: `Look at the disk and its log. ${RESTORE}` },
  unwritable: {
    what: 'cannot be written',
    advice: 'Raise the quota of the disk or the limit of file sizes ("ulimit -f"), or look at the disk and its log.',
  },
  gone: {
    what: 'is gone: it was deleted or moved while the app runs',
    advice: 'Move it back, or stop the app, restore a backup, and start again.',
  },
  log_gone: {
    what: 'has lost its log or the index of it, the file with "-wal" or "-shm" at its end, while the app runs',
    advice:
      'Another SQLite in this process, or somebody who deletes files, took it. ' +
      'Find the code that opens the database, and start the app again.',
  },
  foreign_log: {
    what: 'is a backup beside the log of the database that was there before',
    advice: 'Remove "upshot.db-wal", "upshot.db-shm" and "upshot.db-open" beside it: they would damage the backup.',
  },
  replaced: {
    what: 'was replaced while the app runs',
    advice: 'Start the app again if the file is the right one, or move the former one back.',
  },
  other_schema: {
    what: 'has other tables than this Upshot, which has the same number for them: it is not of a release',
    advice: 'Start the checkout that made it, or name a new data directory with UPSHOT_DATA_DIR.',
  },
}

/** Faults of the whole database: another write of the same commit would fail as well. */
const WHOLE: readonly FaultReason[] = ['locked', 'read_only', 'corrupt', 'gone', 'log_gone', 'replaced']

const REASON_OF_CODE: readonly [RegExp, FaultReason][] = [
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'locked'],
  [/^SQLITE_FULL/, 'full'],
  [/^SQLITE_(READONLY|PERM|AUTH)/, 'read_only'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'corrupt'],
  [/^SQLITE_CANTOPEN/, 'closed'],
  [/^SQLITE_IOERR_WRITE/, 'unwritable'],
  [/^SQLITE_IOERR/, 'unreadable'],
  // The system's own, of a path that it does not look up.
  [/^E(ACCES|PERM)$/, 'closed'],
  [/^E(IO|STALE|LOOP)$/, 'unreadable'],
]

/** Our SQL fits the tables of every release. */
const OTHER_SCHEMA = /^no such (table|column)/

/** The error for a fault of the database in `file`; `details` has `reason` and `file`. */
export function describeFault(reason: FaultReason, file: string, cause?: unknown): UpshotError {
  const { what, advice } = FAULTS[reason]
  const code = codeOf(cause)
  return new UpshotError('store_unavailable', `The database ${file} ${what}${code && ` (${code})`}. ${advice}`, {
    cause,
    details: { reason, file, fix: advice },
  })
}

/** Errors about lock, disk, rights and content become `store_unavailable`; others pass. */
export function translateFault(error: unknown, file: string): unknown {
  const isOther = codeOf(error) === 'SQLITE_ERROR' && error instanceof Error && OTHER_SCHEMA.test(error.message)
  const reason = isOther ? 'other_schema' : REASON_OF_CODE.find(([code]) => code.test(codeOf(error)))?.[1]
  return reason === undefined ? error : describeFault(reason, file, error)
}

/** True where the whole database is at fault, not one write. */
export function isWholeFault(error: unknown): error is UpshotError {
  return error instanceof UpshotError && WHOLE.some((reason) => reason === error.details.reason)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && !(error instanceof UpshotError) ? String(error.code) : ''
}
