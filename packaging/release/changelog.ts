const HEADING = /^## (.+)$/gm

/** The text of a version in a changelog, without its heading; null where it has none. */
export function notesOf(changelog: string, version: string): string | null {
  const headings = [...changelog.matchAll(HEADING)]
  const at = headings.findIndex(([, title = '']) => title.split(' ')[0] === version)
  if (at < 0) return null
  const [line] = headings[at] ?? ['']
  const begin = (headings[at]?.index ?? 0) + line.length
  const text = changelog.slice(begin, headings[at + 1]?.index).trim()
  return text === '' ? null : text
}

/** The changelog with what is unreleased under a version and a day, such as `2026-12-01`. */
export function releaseIn(changelog: string, version: string, day: string): string {
  return changelog.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} (${day})`)
}

/** The versions that were released, newest first. */
export function listReleased(changelog: string): string[] {
  const titles = [...changelog.matchAll(HEADING)].map(([, title = '']) => title.split(' ')[0] ?? '')
  return titles.filter((title) => title !== 'Unreleased')
}
