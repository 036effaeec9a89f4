import { accessSync, type BigIntStats, constants, lstatSync } from 'node:fs'

/** The state of a path on disk. Two equal fingerprints in a row mean that nobody is writing. */
export interface Fingerprint {
  type: 'file' | 'folder'
  identity: string
  size: number
  /** Age of its bytes, in milliseconds, when it got its place or its date: 0 for a new file. */
  ageMs: number
  /** Differs whenever identity, size or time of modification differ. */
  text: string
}

/** Null for nothing, and for anything but files and folders. Links are not followed. */
export function fingerprintOf(path: string): Fingerprint | null {
  const stat = statOrNull(path)
  if (!stat || !(stat.isFile() || stat.isDirectory())) return null
  const identity = `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`
  return {
    type: stat.isFile() ? 'file' : 'folder',
    identity,
    size: Number(stat.size),
    ageMs: ageOf(stat),
    text: stat.isFile() ? `${identity}:${stat.size}:${stat.mtimeNs}` : identity,
  }
}

/** Below this, a file counts as just written. */
const NEW_MS = 60_000

function ageOf({ ctimeMs, mtimeMs }: BigIntStats): number {
  const ageMs = Number(ctimeMs - mtimeMs)
  return ageMs < NEW_MS ? 0 : ageMs
}

/** The identity in the text of a fingerprint. */
export function identityIn(text: string): string {
  return text.split(':').slice(0, 3).join(':')
}

/** Like `lstat`; null if there is nothing, or on any error. */
export function statOrNull(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch {
    // A folder on the way became a file or cannot be entered.
    return null
  }
}

/**
 * The code of the error that hides what is at a path, such as `EACCES`; null where the disk tells.
 * A directory `root` that is gone tells nothing of its files.
 */
export function findReadFault(root: string, path: string): string | null {
  try {
    accessSync(root, constants.R_OK | constants.X_OK)
    lstatSync(path, { throwIfNoEntry: false })
    return null
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    // A folder on the way became a file.
    return code === 'ENOTDIR' ? null : code
  }
}
