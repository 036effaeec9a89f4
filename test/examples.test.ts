import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runGroup } from './support/start-group.ts'

const ROOT = resolve(import.meta.dirname, '..')
const run = (name: string) => runGroup(process.execPath, ['examples/run.ts', name], { cwd: ROOT })
const folders = globSync('*/main.ts', { cwd: join(ROOT, 'examples') }).map(dirname)

/** The end of each example, as its command prints it. */
const ENDS: Record<string, unknown> = {
  demo: 'Every promise held.',
  'verify-and-retire': { outputs: ['deleted', 'kept: the copy is not the same'], left: ['/bad.txt'] },
  'mirror-nightly': { output: { copied: 3, complete: true }, copies: ['a.txt', 'b.txt', 'c.txt'] },
  'csv-to-database': { orders: 2, hasCrashed: true },
  'alert-to-chat': { attempts: 2, keys: 1, last: '{"text":"/film.mov was not transferred"}' },
  'approval-by-mail': { mails: 1, subject: 'Subject: An approval waits: retire-folder', output: { deleted: 21 } },
  'two-accounts': [
    { account: 'default', ignored: '/intake/letter.txt' },
    { account: 'archive', path: '/intake/letter.txt', sha256: expect.stringMatching(/^9caaefd4/) },
  ],
  'fan-out': { files: 10_000, complete: true, texts: 2_500 },
  'on-postgres': ['deleted', 'deleted', 'deleted', 'deleted'],
  'migrate-storage': { asked: 30, output: { done: true, deleted: 30 }, left: 0 },
}

test.each(Object.keys(ENDS))('the command of the example %s shows what it promises', async (name) => {
  const stdout = await run(name)
  expect(JSON.parse(stdout.slice(stdout.search(/^[[{"]/m)))).toEqual(ENDS[name])
})

test('each proxy of the examples passes on deliveries as they came, and nothing else', async () => {
  const stdout = await run('behind-a-proxy')
  for (const found of Object.values(JSON.parse(stdout.slice(stdout.search(/^\{/m))))) {
    expect(found).toEqual({ taken: 200, isSameBody: true, refused: 404 })
  }
})

test('every example has a test, and a row in docs/recipes.md', () => {
  const tested = [...Object.keys(ENDS), 'behind-a-proxy']
  expect(folders.toSorted()).toEqual(tested.toSorted())
  const recipes = readFileSync(join(ROOT, 'docs/recipes.md'), 'utf8')
  expect(folders.filter((name) => !recipes.includes(`\`npm run example ${name}\``))).toEqual([])
})
