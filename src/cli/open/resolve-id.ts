import { UpshotError } from '../../core/errors.ts'

/** Fewer characters are no id that a person meant. */
export const LEAST_OF_ID = 8
const SHOWN = 5

/**
 * The only row whose id is, or begins with, `text`; null without one. Throws `invalid_request`
 * where several begin so.
 */
export async function resolveId<Row>(
  text: string,
  {
    prefix,
    find,
    list,
  }: {
    prefix: string
    find: (id: string) => Promise<Row | null>
    list: (beginning: string, limit: number) => Promise<string[]>
  },
): Promise<Row | null> {
  const exact = await find(text)
  const beginning = withoutEllipsis(text)
  if (exact !== null || beginning.length < LEAST_OF_ID || !/^[a-z]{3}_[\da-z]*$/.test(beginning)) return exact
  if (!beginning.startsWith(prefix)) return null
  const ids = await list(beginning, SHOWN + 1)
  const [only, ...others] = ids
  if (only === undefined) return null
  if (others.length === 0) return find(only)
  throw refuseAmbiguous(beginning, ids)
}

/** An id is often copied with the ellipsis of a narrow table. */
export function withoutEllipsis(text: string): string {
  return text.replace(/…$/, '')
}

export function refuseAmbiguous(beginning: string, ids: readonly string[]): UpshotError {
  const shown = `${ids.slice(0, SHOWN).join(', ')}${ids.length > SHOWN ? ', …' : ''}`
  return new UpshotError('invalid_request', `Several ids begin with ${beginning}.`, {
    details: { fix: `Give more of it: ${shown}.` },
  })
}
