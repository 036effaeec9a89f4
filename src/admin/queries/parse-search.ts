import { UpshotError } from '../../core/errors.ts'

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
