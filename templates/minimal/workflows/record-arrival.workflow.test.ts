import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { crashEverywhere, testbed } from 'upshot/testing'
import { arrivals } from '../config/arrivals.ts'
import workflow, { fileCreated } from './record-arrival.workflow.ts'

beforeEach(() => {
  arrivals.folder = mkdtempSync(join(tmpdir(), 'arrivals-'))
})
afterEach(() => rmSync(arrivals.folder, { recursive: true, force: true }))

test('a new file is recorded with its path and size', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.storage('storage_a').put('/in/report.txt', 'hello')
  await t.send(t.emitted('file.created'))
  const run = t.run(workflow)
  assert.equal(run.status, 'completed')
  assert.deepEqual([run.output?.path, run.output?.size], ['/in/report.txt', 5])
  assert.equal(JSON.parse(readFileSync(run.output?.record ?? '', 'utf8')).path, '/in/report.txt')
})

test('a run waits for a person when its event does not fit the schema', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.send('file.created', { something: 'else' })
  assert.deepEqual([t.run(workflow).status, t.run(workflow).dueAt], ['waiting', null])
  assert.deepEqual(t.effects(), [])
})

test('a run ends the same wherever the app crashes', async () => {
  const { crashes } = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    await t.storage('storage_a').put('/in/report.txt', 'hello')
    const [file] = await t.storage('storage_a').list('/in')
    await t.send(fileCreated, { service: 'storage_a', file: { id: file?.id ?? '', path: '/in/report.txt' } })
    return t.run(workflow).output?.size
  })
  assert.ok(crashes > 0)
})
