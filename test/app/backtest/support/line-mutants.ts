import { stripTypeScriptTypes } from 'node:module'

/** A module in which one line says something else. */
export interface Mutant {
  line: number
  from: string
  to: string
  source: string
}

/** Small edits of a line, as a person makes them by mistake. */
const EDITS: readonly [from: RegExp, to: string][] = [
  [/ === /, ' !== '],
  [/ !== /, ' === '],
  [/ > /, ' <= '],
  [/ < /, ' >= '],
  [/ && /, ' || '],
  [/ \|\| /, ' && '],
  [/ \?\? /, ' && '],
  [/ - /, ' + '],
  [/ \* /, ' / '],
  [/\bif \((.*)\) (?=return|throw|\{)/, 'if (!($1)) '],
  [/ \? (.+) : (.+)$/, ' ? $2 : $1'],
  [/ \? (.+) : (.+?)(\}?,?)$/, ' ? $2 : $1$3'],
  [/\.some\(/, '.every('],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/'([^']+)'(?!\))/, `'$1~'`],
  [/\b(\d[\d_]*)\b/, '($1 + 1)'],
  [/, \{ expect: \w+ \}/, ''],
  [/, \{ of: \w+ \}/, ''],
  [/\breturn (.+)$/, 'return undefined'],
  [/= await (.+)$/, '= null'],
  [/^(\s+)(?:await )?[\w.]+\(.*\)$/, '$1'],
  [/^.*,$/, ''],
]

/** A mutant for each edit of a line that changes the code, and leaves it one that parses. */
export function mutateLines(source: string): Mutant[] {
  const lines = source.split('\n')
  const plain = strip(source)
  const seen = new Set([plain])
  return lines.flatMap((from, index) => {
    if (/^(import|type|\s*(\/\/|\/?\*))/.test(from)) return []
    return EDITS.flatMap(([pattern, by]) => {
      const to = from.replace(pattern, by)
      const mutated = lines.with(index, to).join('\n')
      const code = strip(mutated)
      if (code === null || seen.has(code)) return []
      seen.add(code)
      return [{ line: index + 1, from: from.trim(), to: to.trim(), source: mutated }]
    })
  })
}

/** The code alone, so that an edit of a type is none; null where it cannot be read. */
function strip(source: string): string | null {
  try {
    return stripTypeScriptTypes(source).replace(/\s+/g, ' ')
  } catch {
    return null
  }
}
