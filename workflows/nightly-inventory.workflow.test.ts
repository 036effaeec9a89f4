import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { crashEverywhere, type Testbed, testbed } from '../src/testing/index.ts'
import { outputOf, useOutput } from '../test/support/sample-output.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { parseCsv } from './csv.ts'
import workflow from './nightly-inventory.workflow.ts'

const out = useOutput()

const MONDAY = '2026-06-01T03:00:00.000Z'
const TUESDAY = '2026-06-02T03:00:00.000Z'

function csv(name: string, storage = 'storage_a'): string {
  return readFileSync(join(out.path, 'inventory', storage, name), 'utf8')
}

/** Runs the tick of `moment` and returns its result for the first storage. */
async function take(t: Testbed, moment: string): Promise<Record<string, unknown>> {
  const [first] = outputOf(await t.tick(workflow, moment)) as unknown as Record<string, unknown>[]
  return first ?? {}
}

test('the inventory lists the files of each storage by path, and returns place and hash', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const storage = t.storage('storage_a')
  await storage.put('/b.txt', 'hello')
  const { id } = await storage.put('/a/c, d.txt', '')
  const run = await t.tick(workflow, MONDAY)
  const [, row] = parseCsv(csv('2026-06-01T03-00-00.csv'))
  expect(row?.slice(0, 4)).toEqual([id, '/a/c, d.txt', '0', 'text/plain'])
  const [head, first, second, end] = csv('2026-06-01T03-00-00.csv').split('\r\n')
  expect([head, end]).toEqual(['id,path,size,mimeType,createdAt,modifiedAt', ''])
  expect(first).toContain(',"/a/c, d.txt",0,')
  expect(second).toContain(',/b.txt,5,')
  const sha256 = createHash('sha256').update(csv('2026-06-01T03-00-00.csv')).digest('hex')
  const path = join(out.path, 'inventory/storage_a/2026-06-01T03-00-00.csv')
  expect(outputOf(run)).toMatchObject([
    { service: 'storage_a', snapshot: { path, files: 2, sha256 }, changes: null },
    { service: 'storage_b', snapshot: { files: 0 }, changes: null },
    { service: 'storage_c', snapshot: { files: 0 }, changes: null },
  ])
  expect(out.written()).toEqual(['a', 'b', 'c'].map((letter) => `inventory/storage_${letter}/2026-06-01T03-00-00.csv`))
})

test('the inventory lists files that were added, removed or changed since the previous snapshot', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const storage = t.storage('storage_a')
  await storage.put('/same.txt', 'same')
  const removed = await storage.put('/removed.txt', 'x')
  const changed = await storage.put('/changed.txt', 'x')
  await take(t, MONDAY)
  await t.advance('1d')
  await storage.remove('/removed.txt')
  await storage.put('/changed.txt', 'xyz')
  const added = await storage.put('/added.txt', 'x')

  expect(await take(t, TUESDAY)).toMatchObject({
    snapshot: { files: 3 },
    changes: {
      since: '2026-06-01T03-00-00.csv',
      path: join(out.path, 'inventory/storage_a/2026-06-02T03-00-00.changes.csv'),
      added: 1,
      removed: 1,
      changed: 1,
    },
  })
  const rows = parseCsv(csv('2026-06-02T03-00-00.changes.csv'))
  expect(rows.map((row) => row.slice(0, 4))).toEqual([
    ['change', 'id', 'path', 'size'],
    ['added', added.id, '/added.txt', '1'],
    ['removed', removed.id, '/removed.txt', '1'],
    ['changed', changed.id, '/changed.txt', '3'],
  ])
})

test('the inventory of a late tick is compared with the latest snapshot before it', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await take(t, '2026-05-30T03:00:00.000Z')
  await take(t, TUESDAY)
  await t.storage('storage_a').put('/a.txt', 'x')
  expect(await take(t, MONDAY)).toMatchObject({ changes: { since: '2026-05-30T03-00-00.csv', added: 1 } })
})

test('the inventory recognizes files whose ids and names need quotes', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const sandbox = await t.sandbox()
  sandbox.settings.update({ hostileIds: true })
  for (let number = 0; number < 14; number++) await sandbox.storage('storage_a').put(`/a, "${number}"; b.txt`, '')
  await take(t, MONDAY)
  const entries = sandbox.storage('storage_a').list()
  const [, ...listed] = parseCsv(csv('2026-06-01T03-00-00.csv'))
  expect(listed.map((row) => row.slice(0, 2)).sort()).toEqual(entries.map(({ id, path }) => [id, path]).sort())
  expect(await take(t, TUESDAY)).toMatchObject({ changes: { added: 0, removed: 0, changed: 0 } })
})

test('the inventory calls no file removed on the strength of a partial list', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.storage('storage_a').put('/a.txt', 'x')
  await take(t, MONDAY)
  const results = await workflow.run({
    tick: { scheduledFor: new Date(TUESDAY) },
    files: { snapshot: async () => ({ items: [], complete: false, reason: 'totals' }) },
    step: { run: (_name: string, fn: () => unknown) => fn() },
  } as unknown as Parameters<typeof workflow.run>[0])
  expect(results).toMatchObject([{ partial: 'totals', changes: null }, {}, {}])
  expect(csv('2026-06-02T03-00-00.partial.csv')).toBe('id,path,size,mimeType,createdAt,modifiedAt\r\n')
  expect(await take(t, '2026-06-03T03:00:00.000Z')).toMatchObject({
    changes: { since: '2026-06-01T03-00-00.csv', removed: 0 },
  })
})

test('the inventory lists a storage that is too large for the result of one step', { timeout: 60_000 }, async () => {
  const storagesDir = tempFolder()
  const folder = join(storagesDir, 'storage_a', 'many')
  mkdirSync(folder, { recursive: true })
  for (let number = 0; number < 4_500; number++) writeFileSync(join(folder, `file-${number}.txt`), '')
  await using t = await testbed({ workflows: [workflow], sandbox: { storagesDir } })
  expect(await take(t, MONDAY)).toMatchObject({ snapshot: { files: 4_500 } })
  expect(csv('2026-06-01T03-00-00.csv').split('\r\n')).toHaveLength(4_502)
})

test('the inventory lists the other storages when one is down, and fails in the end', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.faults.add({ on: 'files.list', status: 403, times: 1 })
  const run = await t.tick(workflow, MONDAY)
  expect(run).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('step "files.list[storage_') },
  })
  expect(out.written()).toHaveLength(2)
})

test('the inventory writes the same files wherever the app crashes', { timeout: 60_000 }, async () => {
  const { writes } = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    out.renew()
    await t.storage('storage_a').put('/a.txt', 'hello')
    for (const letter of ['a', 'b', 'c']) {
      const folder = join(out.path, 'inventory', `storage_${letter}`)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, '2026-05-31T03-00-00.csv'), 'id,path,size,mimeType,createdAt,modifiedAt\r\n')
    }
    const changes = { since: '2026-05-31T03-00-00.csv', added: 1, removed: 0, changed: 0 }
    expect(await take(t, MONDAY)).toMatchObject({ snapshot: { files: 1 }, changes })
    expect(parseCsv(csv('2026-06-01T03-00-00.changes.csv'))).toHaveLength(2)
    expect(out.written()).toHaveLength(9)
  })
  expect(writes).toBe(10)
})
