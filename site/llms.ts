import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './links.ts'
import { type Entry, routeOf } from './pages.ts'

/**
 * Writes what programs read: `llms.txt`, an index with a sentence for each page; `llms-full.txt`,
 * the text of all guides; and each page as Markdown beside its HTML.
 */
export function writeLlms(folder: string, sections: Record<string, readonly Entry[]>): void {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
  const intro = `# Upshot\n\n> ${JSON.parse(read('package.json')).description}\n`
  const lists = Object.entries(sections).map(([section, entries]) => {
    const lines = entries.map(([file, name]) => `- [${name}](${routeOf(file)})${summaryOf(read(file))}`)
    return `## ${section}\n\n${lines.join('\n')}\n`
  })
  writeFileSync(join(folder, 'llms.txt'), [intro, ...lists].join('\n'))

  const files = Object.values(sections).flatMap((entries) => entries.map(([file]) => file))
  const guides = files.filter((file) => !/^docs\/(api|decisions)\//.test(file))
  writeFileSync(join(folder, 'llms-full.txt'), [intro, ...guides.map(read)].join('\n'))
  for (const file of files) {
    const copy = join(folder, routeOf(file))
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, read(file))
  }
}

/** The first sentence below the heading of a page, behind a colon. */
function summaryOf(text: string): string {
  const [, paragraph = ''] = text.split('\n\n')
  if (!/^[A-Z*]/.test(paragraph)) return ''
  const plain = paragraph.replace(/\s+/g, ' ').replace(/\*\*|\[([^\]]+)\]\([^)]*\)/g, '$1')
  return `: ${/^.*?\.(?= |$)/.exec(plain)?.[0] ?? plain}`
}
