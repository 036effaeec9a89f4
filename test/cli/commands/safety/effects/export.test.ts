import { expect, test } from 'vitest'
import { deleteFiles } from '../../../../contract/support/delete-files.ts'
import { NOW } from '../../../../support/fixtures.ts'
import { runHere } from '../../../support/run-here.ts'
import { openTestProject } from '../../../support/test-project.ts'

async function openLedger() {
  const { dataDir, store } = await openTestProject()
  const text = async (...args: string[]) => (await runHere(dataDir, ['effects', ...args])).stdout
  const rows = async (...args: string[]) =>
    (await text('export', ...args))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { target: string })
  return { dataDir, store, text, rows }
}

test('"effects export" writes every row, oldest first and in pages, as ndjson', async () => {
  const { dataDir, store, rows } = await openLedger()
  const names = Array.from({ length: 600 }, (_, n) => `f${n}`)
  const lease = await deleteFiles(store, names)
  const all = await rows()
  expect(all).toHaveLength(1_200)
  expect(all[0]).toMatchObject({
    seq: 1,
    phase: 'begun',
    path: '/f0',
    at: new Date(NOW).toISOString(),
    runId: lease.runId,
  })
  expect(all[0]).toMatchObject({ asked: { path: '/f0', bytes: 100, modifiedAt: '2026-01-01T00:00:00Z' } })
  expect(all.map(({ target }) => target).slice(-1)).toEqual(['storage_a:f599'])
  expect((await runHere(dataDir, ['effects', 'export', '--json'])).json.data).toEqual({ rows: 1_200 })
})

test('the ledger is listed and exported by time, workflow, account, run, file, class and outcome', async () => {
  const { store, rows } = await openLedger()
  const lease = await deleteFiles(store, ['a'])
  await deleteFiles(store, ['b'], NOW + 60_000)
  await store.stopEffects({ kind: 'all', name: '', since: NOW, actor: 'ada', reason: 'no' })
  const iso = (ms: number) => new Date(NOW + ms).toISOString()
  const count = async (...args: string[]) => (await rows(...args)).length
  expect(await count()).toBe(5)
  // An end has the time of its step, which the test leaves at its beginning.
  expect(await count('--since', iso(1), '--until', iso(60_001))).toBe(1)
  expect(await count('--until', iso(0))).toBe(0)
  expect(await count('--workflow', 'follow-up')).toBe(4)
  expect(await count('--workflow', 'other')).toBe(0)
  expect(await count('--account', 'default')).toBe(4)
  expect(await count('--account', 'other')).toBe(0)
  expect(await count('--run', lease.runId)).toBe(2)
  expect(await count('--file', '/a')).toBe(2)
  expect(await count('--file', 'storage_a:/a')).toBe(2)
  expect(await count('--file', 'storage_a:b')).toBe(2)
  expect(await count('--class', 'guard')).toBe(1)
  expect(await count('--outcome', 'deleted')).toBe(2)
})

test('"effects of" tells of a file by path or target: who, when, how it looked, run, event and code', async () => {
  const { store, text } = await openLedger()
  const { runId } = await deleteFiles(store, ['a'])
  for (const file of ['/a', 'storage_a:/a', 'storage_a:a']) {
    const story = await text('of', file)
    expect(story).toContain('files.delete begun  /a, 100 B')
    expect(story).toContain(': deleted (reply)')
    expect(story).toContain(`by follow-up, run ${runId}, step a`)
    expect(story).toContain('it was /a, 100 B, of 2026-01-01T00:00:00Z, SHA-256 abab')
    expect(story).toContain('after event evt_delete_')
  }
})

test('"effects show" tells all of one row, and whether a seal covers it', async () => {
  const { dataDir, store, text } = await openLedger()
  const { runId } = await deleteFiles(store, ['a'])
  expect(await text('show', '2')).toMatch(/files\.delete|a ended/)
  expect(await text('show', '2')).toContain('not sealed yet')
  await store.sealEffects({ now: NOW, limit: 10 })
  const { json } = await runHere(dataDir, ['effects', 'show', '2', '--json'])
  expect(json.data).toMatchObject({ seq: 2, phase: 'ended', outcome: 'deleted', runId, isSealed: true })
  expect(json.data).toMatchObject({ before: { path: '/a', bytes: 100 } })
  expect(await runHere(dataDir, ['effects', 'show', '3', '--json'])).toMatchObject({
    exit: 5,
    json: { error: { code: 'not_found' } },
  })
})
