import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'test', 'readme-blocks')

const text = readFileSync(join(ROOT, 'README.md'), 'utf8')
const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? '')
const files = blocks.map((_, index) => join(FOLDER, `block-${index + 1}.workflow.ts`))

beforeAll(() => {
  mkdirSync(FOLDER, { recursive: true })
  blocks.forEach((code, index) => {
    writeFileSync(files[index] ?? '', code)
  })
})
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

test('every TypeScript block compiles', () => {
  expect(blocks.length).toBeGreaterThan(0)
  const config = join(FOLDER, 'tsconfig.json')
  const options = { noUnusedLocals: false }
  writeFileSync(config, JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: options, include: ['.'] }))
  const { stdout, status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], { encoding: 'utf8' })
  expect([stdout, status]).toEqual(['', 0])
})

test('every TypeScript block is a module that the loader takes', async () => {
  const { loadWorkflows } = await import('../src/engine/load-workflows.ts')
  const modules = await loadWorkflows(FOLDER)
  expect(modules.map((module) => [module.kind, module.kind === 'broken' ? module.error : null])).toEqual(
    blocks.map(() => ['loaded', null]),
  )
})

test('every variable that is read is in the tables', () => {
  const config = readFileSync(join(ROOT, 'src/config.ts'), 'utf8')
  const names = [...config.matchAll(/^ {2}((?:UPSHOT|SERVICE)_\w+): \[/gm)].map(([, name]) => name ?? '')
  expect(names.length).toBeGreaterThan(10)
  const isDocumented = (name: string) => text.includes(`\`${name}\``) || /_STORAGE_[BC]$/.test(name)
  expect(names.filter((name) => !isDocumented(name))).toEqual([])
})

test('every npm script that is named exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = [...text.matchAll(/npm run (?:-s )?([a-z]+)/g)].map(([, name]) => name ?? '')
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})
