export interface DatabaseCheck {
  name: string
  passed: boolean
  /** `ok`, or the first faults. */
  found: string
}

export interface DatabaseReport {
  /** Path of the file; host, database and schema of PostgreSQL. */
  file: string
  passed: boolean
  checks: DatabaseCheck[]
  /** Row counts by table. */
  rows: Record<string, number>
}

/** Faults that a check shows. */
const EXAMPLES = 3

export function describeCheck(name: string, faults: readonly string[]): DatabaseCheck {
  const rest = faults.length > EXAMPLES ? ', …' : ''
  return { name, passed: faults.length === 0, found: faults.slice(0, EXAMPLES).join(', ') + rest || 'ok' }
}

export interface MigrationForecast {
  /** Number of the schema that is there, and of the one that this version makes. */
  before: number
  after: number
  /** Files of the migrations, in their order. */
  missing: readonly string[]
  /** Functions that work on the former name of a renamed schema, and would be set right. */
  misled: readonly string[]
  /** Processes that lived a moment ago, with their versions. */
  processes: readonly { version: string; role: string; pid: number }[]
  /** Runs that have not ended. */
  unfinished: number
  /** A migration of a copy, of this size; null: nothing is missing, or the database is no file. */
  tried: { bytes: number; ms: number } | null
  /** Tables that the migrations change; the rows are a guess. Empty for a file, which was tried. */
  tables: readonly { name: string; rows: number; bytes: number }[]
}

/** Index: none is needed for so few rows. `?`: the moment before which a process is gone. */
export const LIVE_PROCESSES = 'SELECT version, role, pid FROM process WHERE seen_at >= ? ORDER BY started_at'
