import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

/** A fenced block of a page. */
export interface Block {
  page: string
  language: string
  code: string
}

/** A page of prose that users read. */
export interface Page {
  /** Path from the root. */
  name: string
  text: string
  blocks: Block[]
}

/** The front page and every guide. */
export function readPages(): Page[] {
  return ['README.md', ...listPages('docs')].map(readPage)
}

/** Pages for people who change the code. */
export function readWorkPages(): Page[] {
  return ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map(readPage)
}

/** A page for each decision, in their order. */
export function readDecisions(): Page[] {
  return listPages('docs/decisions')
    .filter((name) => !name.endsWith('README.md'))
    .map(readPage)
}

/** The list of decisions, by subject; a line that is wrapped is one line. */
export function readList(): string {
  return readPage('docs/decisions/README.md').text.replaceAll('\n  ', ' ')
}

function listPages(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'))
  return names.sort().map((name) => `${folder}/${name}`)
}

function readPage(name: string): Page {
  const text = readFileSync(join(ROOT, name), 'utf8')
  const found = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
  return { name, text, blocks: found.map(([, language = '', code = '']) => ({ page: name, language, code })) }
}

/** The path that the first line of a TypeScript block names. */
export function pathOf({ code }: Block): string | undefined {
  return /^\/\/ ([\w./-]+\.ts)$/m.exec(code.split('\n')[0] ?? '')?.[1]
}

/** Commands of a shell block: continued lines joined, comments removed. */
export function commandsOf({ code }: Block): string[] {
  const lines = code.replaceAll('\\\n', ' ').split('\n')
  return lines.map((line) => line.replace(/(^|\s)#\s.*$/, '').trim()).filter((line) => line !== '')
}

/** Every `upshot …` that a page names, in a shell block or in its prose. */
export function namedCommands({ text, blocks }: Page): string[] {
  const shell = blocks.filter(({ language }) => language === 'sh').flatMap(commandsOf)
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  const inline = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  return [...shell, ...inline].flatMap((line) => {
    const [, command] = /(?:^|\| |-- |npx )upshot ((?:-|[a-z]).*)$/.exec(line.replace('upshot -- ', 'upshot ')) ?? []
    return command === undefined ? [] : [command.replace(/ [|<>] .*$/, '')]
  })
}
