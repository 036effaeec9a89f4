import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { UpshotError } from '../../core/errors.ts'
import { type Anchor, formatAnchor, readAnchors } from '../../core/safety/ledger/anchor.ts'

/** Appends an anchor to a file that only its owner may read. Throws `invalid_config`. */
export function appendAnchor(file: string, anchor: Anchor): void {
  try {
    const handle = openSync(file, 'a', 0o600)
    try {
      // The line before may have been cut off by a crash, so each begins on a line of its own.
      writeSync(handle, `\n${formatAnchor(anchor)}\n`)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch (cause) {
    throw refuse(file, 'written', cause)
  }
}

/** The anchors of a file, also of a log; none where there is no file. Throws `invalid_config`. */
export function loadAnchors(file: string): Anchor[] {
  if (!existsSync(file)) return []
  try {
    return readAnchors(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw refuse(file, 'read', cause)
  }
}

function refuse(file: string, what: string, cause: unknown): UpshotError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error'
  const fix = 'Name a file that this user may append to with UPSHOT_ANCHOR_FILE.'
  return new UpshotError('invalid_config', `The anchor file ${file} cannot be ${what} (${code}).`, {
    cause,
    details: { fix },
  })
}
