import { userInfo } from 'node:os'

/** A user without an entry in the system's list, as in many containers, is named by number. */
export function readUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
