import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { UpshotError } from '../../core/errors.ts'
import { type Anchor, anchorOf, formatAnchor, readAnchors } from '../../core/safety/ledger/anchor.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Config } from '../config/load-config.ts'

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

/** Characters at the end of a file in which the newest anchors are found: some 400 of them. */
const NEWEST_CHARS = 65_536

/** The anchors of a file, also of a log; none where there is no file. Throws `invalid_config`. */
export function loadAnchors(file: string): Anchor[] {
  return readAnchors(readText(file))
}

/** Of the newest anchors of a file, the one of the highest seal. Throws `invalid_config`. */
export function loadHighestAnchor(file: string): Anchor | null {
  const anchors = readAnchors(readText(file).slice(-NEWEST_CHARS))
  return anchors.reduce<Anchor | null>((high, each) => (high === null || each.seal >= high.seal ? each : high), null)
}

function readText(file: string): string {
  if (!existsSync(file)) return ''
  try {
    return readFileSync(file, 'utf8')
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

/** Seals the effect ledger and appends its end to the anchor file. Null without rows. */
export async function takeAnchor(
  store: Pick<Store, 'readSealState' | 'sealEffects'>,
  clock: Clock,
  { anchorFile = null, isDryRun = false }: Pick<Config, 'anchorFile'> & { isDryRun?: boolean },
): Promise<Anchor | null> {
  const { sealLedger } = await import('../../schedule/sealer.ts')
  const { head } = isDryRun ? await store.readSealState() : await sealLedger(store, clock)
  if (head === null) return null
  const anchor = anchorOf(head, clock.now())
  if (anchorFile !== null && !isDryRun) appendAnchor(anchorFile, anchor)
  return anchor
}
