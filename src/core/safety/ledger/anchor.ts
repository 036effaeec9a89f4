import { z } from 'zod'
import { parseJson } from '../../json.ts'
import type { Seal } from './seal.ts'

/** The newest seal at a moment, to be kept outside the database. */
export interface Anchor {
  seal: number
  /** The newest ledger row that it covers. */
  last: number
  /** When the anchor was taken, in epoch milliseconds. */
  at: number
  /** MAC of the seal, in hex. */
  mac: string
}

const anchorLine = z.object({
  seal: z.int().positive(),
  last: z.int().nonnegative(),
  at: z.iso.datetime().transform((text) => Date.parse(text)),
  mac: z.string().regex(/^[0-9a-f]{64}$/),
})

export function anchorOf({ number, last, mac }: Pick<Seal, 'number' | 'last' | 'mac'>, now: number): Anchor {
  return { seal: number, last, at: now, mac }
}

/**
 * True for an anchor of a branch that ended when an older backup took its place, as `restoration`
 * says. `own`: the chain's seal of the same number, if any. The app seals before a person names the
 * restoration. So one that is younger than the anchor was not in the backup.
 */
export function isExplained(
  { seal, at }: Anchor,
  restoration: Pick<Seal, 'number' | 'at'>,
  own: Pick<Seal, 'at'> | undefined,
): boolean {
  return at <= restoration.at && (restoration.number <= seal || (own !== undefined && at <= own.at))
}

/** One line of JSON, without its end. */
export function formatAnchor({ seal, last, at, mac }: Anchor): string {
  return JSON.stringify({ seal, last, at: new Date(at).toISOString(), mac })
}

/**
 * The anchors in a text: lines of an anchor file, or of a log with other lines between. A line that
 * a crash cut off is none.
 */
export function readAnchors(text: string): Anchor[] {
  return text.split('\n').flatMap((line) => {
    const parsed = line.startsWith('{') ? anchorLine.safeParse(parseJson(line)) : null
    return parsed?.success ? [parsed.data] : []
  })
}
