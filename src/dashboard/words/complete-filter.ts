/** The most that is offered. */
const MOST = 20

/** A search with its last word completed, to the name of a filter or to one of its values. */
export function completeFilter(text: string, filters: Readonly<Record<string, readonly string[]>>): string[] {
  const [, before = '', word = ''] = /^(.*?)(\S*)$/s.exec(text) ?? []
  if (word === '') return []
  const [name = '', value] = word.split(':', 2)
  const whole =
    value === undefined
      ? Object.keys(filters).map((each) => `${each}:`)
      : (filters[name] ?? []).map((each) => `${name}:${each}`)
  return whole
    .filter((each) => each.startsWith(word) && each !== word)
    .slice(0, MOST)
    .map((each) => before + each)
}
