import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { SECTIONS, slug } from '../../site/pages.ts'
import { ROOT, readDecisions, readPages, readWorkPages } from './pages.ts'

const pages = [...readPages(), ...readWorkPages(), ...readDecisions()]

const MAX_COLUMNS = 100
const MAX_WORDS = 1500

const AT_THE_TOP = new Set([
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'biome.json',
  'vitest.config.ts',
  'vitest.long.config.ts',
  'Dockerfile',
  'compose.yml',
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'SECURITY.md',
  'SUPPORT.md',
  'src',
  'test',
  'bench',
  'config',
  'docs',
  'examples',
  'packaging',
  'site',
  'style',
  'templates',
  'workflows',
])

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
  const files = globSync(['{src,test,bench,packaging,workflows,docs,config}/**/*', 'site/*.ts', '*.*'], { cwd: ROOT })
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

test('ARCHITECTURE.md is read in ten minutes', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  expect(text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length).toBeLessThanOrEqual(MAX_WORDS)
})

test('nothing lies at the top that a stranger would not expect', () => {
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n')
  const others = readdirSync(ROOT).filter((name) => !AT_THE_TOP.has(name) && !name.startsWith('.'))
  expect(others.filter((name) => !ignored.some((line) => matchesGlob(name, line.replaceAll('/', ''))))).toEqual([])
})

test('every guide is in the sidebar of the site once, and every page of the sidebar exists', () => {
  const listed = Object.values(SECTIONS).flatMap((entries) => entries.map(([file]) => file))
  const guides = [...readPages(), ...readWorkPages()].map(({ name }) => name).filter((name) => name !== 'README.md')
  expect(listed.filter((file) => guides.includes(file)).toSorted()).toEqual(guides.toSorted())
  expect(listed.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})
