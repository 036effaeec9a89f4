import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { crashEverywhere, testbed } from 'upshot/testing'
import { mirror } from '../config/mirror.ts'
import workflow, { placeOf } from './mirror-storage.workflow.ts'

beforeEach(() => {
  mirror.folder = mkdtempSync(join(tmpdir(), 'mirror-'))
})
afterEach(() => rmSync(mirror.folder, { recursive: true, force: true }))

interface Line {
  path: string
  size: number
  copy: string
}

function inventory(): Line[] {
  const lines = readFileSync(join(mirror.folder, 'inventory.jsonl'), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

function copies(): string[] {
  return readdirSync(mirror.folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.txt'))
}

test('the first tick copies every file, the next one only new and changed files', async () => {
  await using t = await testbed({ workflows: [workflow], now: '2026-01-01T00:01:00Z' })
  await t.storage('storage_a').put('/a.txt', 'one')
  await t.storage('storage_a').put('/deep/b.txt', 'two')
  await t.advance('15m')
  assert.deepEqual([t.run(workflow).output?.files, t.run(workflow).output?.copied], [2, 2])
  assert.deepEqual(
    inventory().map(({ path, copy }) => [path, readFileSync(copy, 'utf8')]),
    [
      ['/a.txt', 'one'],
      ['/deep/b.txt', 'two'],
    ],
  )

  await t.storage('storage_a').put('/a.txt', 'one again')
  await t.advance('15m')
  assert.deepEqual([t.run(workflow).output?.files, t.run(workflow).output?.copied], [2, 1])
  assert.equal(readFileSync(inventory()[0]?.copy ?? '', 'utf8'), 'one again')
  assert.equal(copies().length, 3)
})

test('the copy of a deleted file stays, but leaves the inventory', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.storage('storage_a').put('/a.txt', 'one')
  await t.storage('storage_a').put('/b.txt', 'two')
  await t.tick(workflow, '2026-01-01T00:00:00Z')
  await t.storage('storage_a').remove('/b.txt')
  await t.tick(workflow, '2026-01-01T00:15:00Z')
  assert.deepEqual(
    inventory().map(({ path }) => path),
    ['/a.txt'],
  )
  assert.equal(copies().length, 2)
})

test('a copy lies inside the mirror folder whatever its file is called', () => {
  const entry = { service: 'storage_a', id: 'f1', type: 'file', mimeType: null, size: 1, createdAt: null } as const
  for (const path of ['/../../etc/passwd', '/a/../../b', '/..', '/nul\u0000l', '/C:\\x']) {
    const place = placeOf({ ...entry, path, name: path.split('/').at(-1) ?? '', modifiedAt: null })
    assert.ok(place.startsWith(`${mirror.folder}/storage_a/`), place)
    assert.ok(!place.includes('..'), place)
  }
})

test('a run ends the same wherever the app crashes', async () => {
  const { crashes } = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    rmSync(mirror.folder, { recursive: true, force: true })
    await t.storage('storage_a').put('/a.txt', 'one')
    await t.tick(workflow, '2026-01-01T00:00:00Z')
    return [inventory().length, copies().length]
  })
  assert.ok(crashes > 0)
})
