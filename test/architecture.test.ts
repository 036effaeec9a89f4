import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const SRC = join(ROOT, 'src')
const PAGE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')

const MAX_ENTRIES = 16
const MAX_LINES = 300
/** A table keeps its statements beside the methods that run them. */
const MAX_TABLE_LINES = 400

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
const texts = new Map(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]))
const folders = [...new Set(files.flatMap(foldersOf))]

/** Every folder that a file lies in, from `src` itself (`''`) down. */
function foldersOf(file: string): string[] {
  const words = dirname(file) === '.' ? [] : dirname(file).split('/')
  return ['', ...words.map((_, index) => words.slice(0, index + 1).join('/'))]
}

/** Specifiers of everything that a file imports: values, types and `import()`. */
function importsOf(file: string): string[] {
  const text = texts.get(file) ?? ''
  return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(([, name]) => name ?? '')
}

function localImports(file: string): string[] {
  return importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(SRC, resolve(SRC, dirname(file), name)))
    .filter((target) => !namesTables(file, target))
}

/** The port has the types of the store's tables, which describe it; nothing of them runs. */
function namesTables(file: string, target: string): boolean {
  if (!file.startsWith('core/store/') || !target.startsWith('store/')) return false
  const lines = (texts.get(file) ?? '').split('\n').filter((line) => line.includes(`/${target}'`))
  return lines.every((line) => line.startsWith('import type '))
}

/** The texts of all files that may import one of `src`. */
function readEverySource(): string[] {
  const others = ['test', 'bench', 'packaging', 'workflows'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
      .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
  )
  return [...texts.values(), ...others]
}

/** The names that a text imports or hands on; each of its words where it imports by `import()`. */
function namesImported(text: string): string[] {
  if (/\bimport\(/.test(text)) return text.match(/\w+/g) ?? []
  const clauses = [...text.matchAll(/^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from/gm)]
  return clauses.flatMap(([, clause = '']) => clause.match(/\w+/g) ?? [])
}

/** The child of `folder` that a file is, or lies in; null for a file outside it. */
function childOf(folder: string, file: string): string | null {
  const prefix = folder === '' ? '' : `${folder}/`
  return file.startsWith(prefix) ? (file.slice(prefix.length).split('/')[0] ?? null) : null
}

/** Children of a folder, and for each pair that imports one another the imports that say so. */
function graphOf(folder: string): Map<string, Map<string, string>> {
  const graph = new Map<string, Map<string, string>>()
  for (const file of files) {
    const from = childOf(folder, file)
    if (from === null) continue
    const targets = graph.get(from) ?? new Map<string, string>()
    graph.set(from, targets)
    for (const target of localImports(file)) {
      const to = childOf(folder, target)
      if (to !== null && to !== from) targets.set(to, `${file} → ${target}`)
    }
  }
  return graph
}

/** The imports of one circle among the children of a folder; empty where there is none. */
function findCircle(graph: Map<string, Map<string, string>>): string[] {
  const done = new Set<string>()
  const walk = (child: string, path: string[]): string[] => {
    const at = path.indexOf(child)
    if (at >= 0) {
      const circle = [...path.slice(at), child]
      return circle.slice(1).map((to, index) => graph.get(circle[index] ?? '')?.get(to) ?? '')
    }
    if (done.has(child)) return []
    for (const to of graph.get(child)?.keys() ?? []) {
      const circle = walk(to, [...path, child])
      if (circle.length > 0) return circle
    }
    done.add(child)
    return []
  }
  return [...graph.keys()].map((child) => walk(child, [])).find((circle) => circle.length > 0) ?? []
}

/** The table of rooms in ARCHITECTURE.md: what each may import, of our rooms and of packages. */
function readRooms(): Map<string, readonly string[]> {
  const rows = [...PAGE.matchAll(/^\| `([\w/-]+)\/` \|[^|]*\| ([^|]*) \|$/gm)]
  return new Map(rows.map(([, room = '', may = '']) => [room, may.replaceAll('`', '').split(/,\s*/)]))
}

/** The orders in ARCHITECTURE.md: each child of a folder imports only those to its right. */
function readOrders(): Map<string, readonly string[]> {
  const block = /^```orders\n([\s\S]*?)^```/m.exec(PAGE)?.[1] ?? ''
  const lines = block
    .trimEnd()
    .replace(/\n {2,}/g, ' ')
    .split('\n')
  return new Map(
    lines.map((line) => {
      const [folder = '', ...names] = line.split(/\s+/).filter((word) => word !== '·')
      return [folder, names]
    }),
  )
}

const rooms = readRooms()
const roomOf = (file: string) => file.split('/')[0] ?? file

/** Whether an entry of the table allows an import: a room, or one folder of it. */
function isAllowed(may: readonly string[], target: string): boolean {
  if (may.includes('every room')) return true
  return may.some((each) => target.startsWith(`${each}/`))
}

describe('rooms', () => {
  test('every entry of src is a room of the table, and every room of the table is there', () => {
    const found = readdirSync(SRC).sort()
    expect(found).toEqual([...rooms.keys()].sort())
  })

  test('a file imports from other rooms only what the table allows', () => {
    const forbidden = files.flatMap((file) =>
      localImports(file)
        .filter((target) => roomOf(target) !== roomOf(file))
        .filter((target) => !isAllowed(rooms.get(roomOf(file)) ?? [], target))
        .map((target) => `${file} → ${target}`),
    )
    expect(forbidden).toEqual([])
  })

  test('core imports no package but zod and node:crypto', () => {
    const packages = files
      .filter((file) => roomOf(file) === 'core')
      .flatMap(importsOf)
      .filter((name) => !name.startsWith('.'))
    expect([...new Set(packages)].filter((name) => !rooms.get('core')?.includes(name))).toEqual([])
  })

  test.each(folders)('the children of src/%s import one another without a circle', (folder) => {
    expect(findCircle(graphOf(folder))).toEqual([])
  })

  test.each(folders)('src/%s has no more than 16 entries', (folder) => {
    expect(readdirSync(join(SRC, folder)).length).toBeLessThanOrEqual(MAX_ENTRIES)
  })

  test.each([...readOrders()])('the children of src/%s import only those to their right', (folder, order) => {
    const graph = graphOf(folder)
    const nameOf = (child: string) => child.replace(/\.tsx?$/, '')
    const rest = [...graph.keys()].map(nameOf).filter((name) => !order.includes(name))
    if (!order.includes('*')) expect(rest).toEqual([])
    const rank = (child: string) => order.indexOf(rest.includes(nameOf(child)) ? '*' : nameOf(child))
    const against = [...graph].flatMap(([from, targets]) =>
      [...targets].filter(([to]) => rank(from) > rank(to)).map(([, why]) => why),
    )
    expect(against).toEqual([])
  })
})

describe('files', () => {
  test('a file with one function or class to export has its name in that of an export', () => {
    const kebab = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])|_/g, '-').toLowerCase()
    const exported = /^export (?:async |abstract )*(function\*?|class|interface|type|const) (\w+)/gm
    const misnamed = files.flatMap((file) => {
      const all = [...(texts.get(file) ?? '').matchAll(exported)].map(([, kind, name = '']) => ({ kind, name }))
      const code = new Set(all.filter(({ kind }) => /function|class/.test(kind ?? '')).map(({ name }) => name))
      // Commands have the names of their words; their module is named for the noun.
      if (code.size !== 1 || file.startsWith('cli/commands/')) return []
      const own = `-${basename(file).replace(/\.tsx?$/, '')}-`
      return all.some(({ name }) => `-${kebab(name)}-`.includes(own)) ? [] : [`${file} exports ${[...code]}`]
    })
    expect(misnamed).toEqual([])
  })

  test('what a file exports, another file imports', () => {
    const imported = new Set(readEverySource().flatMap(namesImported))
    const exported = /^export (?:async |abstract )*(?:function\*?|class|interface|type|const) (\w+)/gm
    const unused = files.flatMap((file) =>
      [...(texts.get(file) ?? '').matchAll(exported)]
        .map(([, name = '']) => name)
        // The command tree and the loader of operations find these by the form of their names.
        .filter((name) => !imported.has(name) && name !== 'define' && !name.endsWith('Handlers'))
        .map((name) => `${file} exports ${name}`),
    )
    expect(unused).toEqual([])
  })

  test('a bound is named MAX_ or MIN_', () => {
    const others = files.flatMap((file) => (texts.get(file) ?? '').match(/\b(MOST|LONGEST|LEAST)_[A-Z_]+/g) ?? [])
    expect(others).toEqual([])
  })

  test('no file is named for a drawer', () => {
    const drawers = /(^|\/)(utils?|helpers?|common|lib|types|interfaces|constants)(\.ts|\/)/
    expect(files.filter((file) => drawers.test(file))).toEqual([])
  })

  test('there are five doors, and no other file re-exports', () => {
    const barrels = files.filter((file) => {
      const code = (texts.get(file) ?? '').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      return /^export (type )?(\{[^}]*\}|\*( as \w+)?) from /m.test(code)
    })
    const doors = ['admin/client/index.ts', 'author/index.ts', 'files/index.ts', 'sandbox/index.ts', 'testing/index.ts']
    expect(barrels.sort()).toEqual(doors)
  })

  test('no file has more than 300 lines, a table of the store 400', () => {
    const long = [...texts]
      .map(([file, text]) => [file, text.split('\n').length] as const)
      .filter(([file, lines]) => lines > (file.endsWith('-table.ts') ? MAX_TABLE_LINES : MAX_LINES))
    expect(long).toEqual([])
  })

  test('a line has one property of a long object: none is spread into it to share a line', () => {
    const packed = readEverySource().flatMap((text) => text.match(/^.*\.\.\.\(?\{ .*$/gm) ?? [])
    expect(packed).toEqual([])
  })

  test('only environment.ts reads the environment, and the player of tests that run in no project of ours', () => {
    const readers = files.filter((file) => /(?<!')\bprocess\.env\b/.test(texts.get(file) ?? ''))
    expect(readers.sort()).toEqual(['project/config/environment.ts', 'testing/replay-recorded.ts'])
  })
})
