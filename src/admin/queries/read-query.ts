import { UpshotError } from '../../core/errors.ts'
import { parseTag, type Tag } from '../../core/runs/told/tags.ts'
import { type Duration, isoTime, parseDuration, readIso } from '../../core/time.ts'

/** The value without its undefined fields, as filters of the store want it. */
export function given<T extends object>(value: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, content]) => content !== undefined)) as never
}

/** A moment in epoch milliseconds: ISO 8601, or a duration before now. */
export function readMoment(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  return /^\d{4}-/.test(text) ? readIso(text) : now - parseDuration(text as Duration)
}

/** The tags of a query and of its `q`; undefined without any. */
export function readTagFilter(query: string | string[] | undefined, search: readonly string[]): Tag[] | undefined {
  const tags = [...[query ?? []].flat(), ...search].map((text) => parseTag(text) ?? refuseTag(text))
  return tags.length === 0 ? undefined : tags
}

function refuseTag(text: string): never {
  throw new UpshotError(
    'invalid_request',
    `"${text}" is not a tag. Write its name and value, such as tag:customer=acme.`,
  )
}

export function encodePosition(position: string): string {
  return Buffer.from(position).toString('base64url')
}

/** Throws `invalid_request` for a position that no list gave. */
export function decodePosition(after: string | undefined, looksLike: RegExp): string | undefined {
  if (after === undefined) return undefined
  const position = Buffer.from(after, 'base64url').toString()
  if (looksLike.test(position)) return position
  throw new UpshotError('invalid_request', '`after` is not the `next` of a page of this list.', {
    details: { faults: [{ at: 'after', fault: 'is not the `next` of a page' }] },
  })
}

/** A page of a list that reads no more rows than it returns. */
export function wholePage<Item, Row>(
  rows: readonly Row[],
  { limit, items, positionOf, momentOf }: PageParts<Item, Row>,
) {
  const last = rows.at(-1)
  const isMore = rows.length === limit && last !== undefined
  return {
    items,
    next: isMore ? encodePosition(positionOf(last)) : null,
    searched: {
      from: last === undefined ? null : isoTime(momentOf(last)),
      rows: rows.length,
      isComplete: !isMore,
      ms: 0,
    },
  }
}

interface PageParts<Item, Row> {
  limit: number
  items: Item[]
  positionOf: (row: Row) => string
  momentOf: (row: Row) => number
}
