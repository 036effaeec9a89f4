import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, readDecisions, readPages, readWorkPages } from './pages.ts'

const pages = [...readPages(), ...readWorkPages(), ...readDecisions()]

const MAX_COLUMNS = 100

/** The anchor of a heading, as GitHub makes it. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-')
}

test('every link leads to a file that exists, and to a heading in it', () => {
  const broken = pages.flatMap(({ name, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)]
      .filter(([, path = '', anchor]) => {
        const file = path === '' ? join(ROOT, name) : resolve(ROOT, dirname(name), path)
        if (!existsSync(file)) return true
        if (anchor === undefined) return false
        const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
          slug(heading),
        )
        return !headings.includes(anchor)
      })
      .map(([link]) => `${name}: ${link}`),
  )
  expect(broken).toEqual([])
})

test('every source file that a page for contributors names exists', () => {
  const files = globSync(['{src,test,bench,packaging,workflows,docs,config}/**/*', '*.*'], { cwd: ROOT })
  const exists = (path: string) => files.some((file) => file === path || file.endsWith(`/${path}`))
  const missing = [...readWorkPages(), ...readDecisions()].flatMap(({ name, text }) =>
    [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([\w./-]+\.(?:ts|md|sql)|[\w-]+(?:\/[\w-]+)+\/?)`/g)]
      .map(([, path = '']) => path.replace(/\/$/, ''))
      .filter((path) => /\.(ts|md|sql)$|^(src|test|bench|docs|packaging)\//.test(path) && !exists(path))
      .map((path) => `${name}: ${path}`),
  )
  expect(missing).toEqual([])
})

test('every page wraps at 100 columns, tables and blocks of code excepted', () => {
  const long = pages.flatMap(({ name, text }) =>
    text
      .replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ''))
      .split('\n')
      .flatMap((line, index) => (line.length > MAX_COLUMNS && !line.startsWith('|') ? [`${name}:${index + 1}`] : [])),
  )
  expect(long).toEqual([])
})
