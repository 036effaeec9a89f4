import { UpshotError } from '../../../core/errors.ts'

/** Why the database cannot be used, as `details.reason` of `store_unavailable`. */
type FaultReason =
  | 'unreachable'
  | 'crowded'
  | 'read_only'
  | 'full'
  | 'refused'
  | 'missing'
  | 'untrusted'
  | 'pooled'
  | 'corrupt'
  | 'timeout'
  | 'other_schema'

const FAULTS: Record<FaultReason, { what: string; fix: string }> = {
  unreachable: { what: 'does not answer', fix: 'Look at the server and the network.' },
  crowded: {
    what: 'has no connection left for us',
    fix: 'Raise max_connections of the server, or lower UPSHOT_DATABASE_CONNECTIONS.',
  },
  read_only: {
    what: 'is read-only: a standby, a primary that was replaced, or by default_transaction_read_only',
    fix: 'Name all hosts in UPSHOT_DATABASE_URL, so that the primary is found, or let the database take writes.',
  },
  full: { what: 'is on a full disk', fix: 'Free some space on the server.' },
  missing: {
    what: 'does not exist',
    fix: 'Correct the name in UPSHOT_DATABASE_URL, or create the database on the server.',
  },
  untrusted: {
    what: 'is on a server that does not prove who it is, or does not encrypt',
    fix: 'Name the authority of its certificate with sslrootcert=<file> in UPSHOT_DATABASE_URL.',
  },
  refused: {
    what: 'refuses this user',
    fix: 'Look at the user and password in UPSHOT_DATABASE_URL, and at the rights of that user.',
  },
  pooled: {
    what: 'is behind a pooler that refuses what our sessions need',
    fix: 'Set pool_mode and ignore_startup_parameters of PgBouncer as "Poolers" in the guide says.',
  },
  corrupt: { what: 'is damaged', fix: 'Restore it from a backup, or fail over to a standby.' },
  other_schema: {
    what: 'has other tables than this Upshot, which has the same number for them: it is not of a release',
    fix: 'Start the checkout that made it, or name another schema in UPSHOT_DATABASE_URL.',
  },
  timeout: { what: 'is too slow to answer in time', fix: 'Look at its load and locks.' },
}

/** SQLSTATEs after which the same call is made again: it had no effect, or is settled by asking. */
const PASSING = /^(08|57P0[1235]|25006|53|57014|40001|40P01|25P0[34]|55P03)/
const REASONS: readonly [RegExp, FaultReason][] = [
  [/^25006/, 'read_only'],
  [/^53100/, 'full'],
  [/^53300/, 'crowded'],
  [/^3D000/, 'missing'],
  [/^(28|42501)/, 'refused'],
  [/CERT|TLS|SIGNATURE|SSL/, 'untrusted'],
  [/^XX00[12]/, 'corrupt'],
  // Our SQL fits the tables of every release.
  [/^(42P01|42703)/, 'other_schema'],
  // EBUSY: a session of ours was not free in time.
  [/^(57014|55P03|40P01|40001|EBUSY)/, 'timeout'],
  [/^(08|57P0|53|25P0[34])/, 'unreachable'],
]

/** True where the connection may have ended, so that nothing is known of its last statement. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error)
  if (/^(08|57P0[1235]|25P0[34])/.test(code)) return true
  return /^E(?!RR_)[A-Z_]+$/.test(code) || (code === '' && /terminat|closed|timeout|queryable/i.test(messageOf(error)))
}

/** True for a fault that passes: the same call may succeed now. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof UpshotError) && !isPooled(error) && (isLost(error) || PASSING.test(codeOf(error)))
}

/**
 * Faults of the server become `store_unavailable`, with host and database; others stay as they are.
 * `details.passes`: the database may be back.
 */
export function translateFault(error: unknown, place: string): unknown {
  if (error instanceof UpshotError) return error
  const code = codeOf(error)
  const known = isPooled(error) ? 'pooled' : REASONS.find(([pattern]) => pattern.test(code))?.[1]
  const reason = known ?? (isUnencrypted(error) ? 'untrusted' : isLost(error) ? 'unreachable' : undefined)
  if (reason === undefined) return error
  const { what, fix } = FAULTS[reason]
  return new UpshotError('store_unavailable', `The database ${place} ${what}${code && ` (${code})`}.`, {
    cause: error,
    details: { reason, fix, passes: isPassing(error) },
  })
}

/** The words of PgBouncer, whose code is that of a lost connection. */
function isPooled(error: unknown): boolean {
  return /unsupported startup parameter|statement pooling mode/i.test(messageOf(error))
}

/** The driver's own words, which have no code. */
function isUnencrypted(error: unknown): boolean {
  return /does not support SSL/i.test(messageOf(error))
}

/** The SQLSTATE, or the code of the system; empty without either. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
