/** The result of one check. */
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

/** The result of a check that found these faults. */
export function describeCheck(name: string, faults: readonly string[]): DatabaseCheck {
  const rest = faults.length > EXAMPLES ? ', …' : ''
  return { name, passed: faults.length === 0, found: faults.slice(0, EXAMPLES).join(', ') + rest || 'ok' }
}
