import { type BigIntStats, lstatSync } from 'node:fs'

/**
 * What one look at a path on disk showed. Two equal looks in a row mean that nobody is writing
 * there any more.
 */
export interface Fingerprint {
  type: 'file' | 'folder'
  identity: string
  size: number
  /** Differs whenever anything about the file does. */
  text: string
}

/**
 * Null when there is nothing, or something that is neither file nor folder: links are not followed.
 */
export function fingerprintOf(path: string): Fingerprint | null {
  const stat = statOrNull(path)
  if (!stat || !(stat.isFile() || stat.isDirectory())) return null
  const identity = `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`
  return {
    type: stat.isFile() ? 'file' : 'folder',
    identity,
    size: Number(stat.size),
    text: stat.isFile() ? `${identity}:${stat.size}:${stat.mtimeNs}` : identity,
  }
}

/** The identity that a fingerprint begins with. */
export function identityIn(text: string): string {
  return text.split(':').slice(0, 3).join(':')
}

/** As `lstat`; null when there is nothing, whatever the reason. */
export function statOrNull(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch {
    // A folder on the way became a file, or may not be entered: there is nothing to see at this
    // path.
    return null
  }
}
