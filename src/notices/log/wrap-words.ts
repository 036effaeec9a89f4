/**
 * Joins words into lines of at most `width` columns. A longer word has a line of its own, uncut: it
 * is an address or an id.
 */
export function wrapWords(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
