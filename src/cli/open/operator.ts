import { hostname, userInfo } from 'node:os'
import type { Operator } from '../../core/safety/audit.ts'

/** The role of everybody who can open the data directory. */
const ROLE = 'owner'

/** The person at this command line, as the system names them. Nothing proves that name. */
export function describeOperator(reason: string | null): Operator {
  return { actor: `cli:${readUser()}`, role: ROLE, from: hostname(), reason }
}

/** A user without an entry in the system's list, as in many containers, is named by number. */
function readUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
