import { refuse, type UpshotError } from '../../core/errors.ts'

/** Fewer characters are no id that a person meant. */
export const MIN_OF_ID = 8
const SHOWN = 5

/** The only row whose id is `text` or begins so; null: none. Several are an `invalid_request`. */
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
  const beginning = readBeginning(text)
  if (exact !== null || beginning === null || !beginning.startsWith(prefix)) return exact
  const only = pickOnly(beginning, await list(beginning, SHOWN + 1))
  return only === null ? null : find(only)
}

/** The only row of a short list whose id is, or begins with, `text`, as in {@link resolveId}. */
export function resolveAmong<Row extends { id: string }>(text: string, rows: readonly Row[]): Row | null {
  const exact = rows.find(({ id }) => id === text)
  const beginning = readBeginning(text)
  if (exact !== undefined || beginning === null) return exact ?? null
  const ids = rows.map(({ id }) => id).filter((id) => id.startsWith(beginning))
  const only = pickOnly(beginning, [...new Set(ids)])
  return rows.find(({ id }) => id === only) ?? null
}

/** Null for a text that begins no id of ours, or is too short. */
function readBeginning(text: string): string | null {
  const beginning = withoutEllipsis(text)
  return beginning.length >= MIN_OF_ID && /^[a-z]{3}_[\da-z]*$/.test(beginning) ? beginning : null
}

function pickOnly(beginning: string, ids: readonly string[]): string | null {
  const [only = null, ...others] = ids
  if (others.length > 0) throw refuseAmbiguous(beginning, ids)
  return only
}

/** An id is often copied with the ellipsis of a narrow table. */
export function withoutEllipsis(text: string): string {
  return text.replace(/…$/, '')
}

export function refuseAmbiguous(beginning: string, ids: readonly string[]): UpshotError {
  const shown = `${ids.slice(0, SHOWN).join(', ')}${ids.length > SHOWN ? ', …' : ''}`
  return refuse(`Several ids begin with ${beginning}.`, `Give more of it: ${shown}.`)
}
