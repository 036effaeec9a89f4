import { UpshotError } from '../../core/errors.ts'
import { parseTag, type Tag } from '../../core/runs/annotations/tags.ts'
import { type Duration, isMoment, parseDuration, readIso } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import { seesPayloads } from '../views/run-view.ts'

/** The value without its undefined fields, as filters of the store want it. */
export function given<T extends object>(value: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, content]) => content !== undefined)) as never
}

/** A moment in epoch milliseconds: ISO 8601, or a duration before now. */
export function readMoment(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const moment = /^\d{4}-/.test(text) ? readIso(text) : now - parseDuration(text as Duration)
  if (isMoment(moment)) return moment
  throw new UpshotError(
    'invalid_request',
    `"${text}" is no moment. Write it like 2026-06-01T12:00Z, or 2h for before now.`,
  )
}

/**
 * The tags of a query and of its `q`; undefined without any. A viewer sees no value of a tag, so
 * that it may not ask for one either.
 */
export function readTagFilter(
  query: string | string[] | undefined,
  { tags: search }: Pick<ParsedSearch, 'tags'>,
  caller: Caller,
): Tag[] | undefined {
  const tags = [...[query ?? []].flat(), ...search].map((text) => parseTag(text) ?? refuseTag(text))
  if (tags.length === 0) return undefined
  if (seesPayloads(caller)) return tags
  throw new UpshotError('forbidden', 'Values of tags are looked for here, which a viewer does not see.')
}

function refuseTag(text: string): never {
  throw new UpshotError(
    'invalid_request',
    `"${text}" is not a tag. Write its name and value, such as tag:customer=acme.`,
  )
}

/** The words and filters of a `q`, such as `checksum status:failed since:2h`. */
interface ParsedSearch {
  words: string[]
  filters: Record<string, string>
  /** The values of `tag:`, which may stand more than once. */
  tags: string[]
}

/**
 * Reads a `q`. Words may stand in double quotes, and so may the value of a filter:
 * `error:"429 on"`. Throws `invalid_request` for a filter that is not among `known`.
 */
export function parseSearch(text: string | undefined, known: readonly string[]): ParsedSearch {
  const parsed: ParsedSearch = { words: [], filters: {}, tags: [] }
  for (const [, name, quoted, plain = ''] of (text ?? '').matchAll(/(?:([a-z]+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = quoted ?? plain
    if (name === undefined) parsed.words.push(value)
    else if (name === 'tag' && known.includes(name)) parsed.tags.push(value)
    else if (known.includes(name)) parsed.filters[name] = value
    else throw describeUnknown(name, known)
  }
  return parsed
}

function describeUnknown(name: string, known: readonly string[]): UpshotError {
  return new UpshotError('invalid_request', `There is no filter "${name}:" in this list.`, {
    details: {
      faults: [{ at: 'q', fault: `"${name}:" is not known` }],
      fix: `Use ${known.map((each) => `${each}:`).join(', ')}, or put the word in quotes.`,
    },
  })
}
