import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { crashEverywhere, type Testbed, testbed } from 'upshot/testing'
import { cleanup } from '../config/cleanup.ts'
import workflow from './retire-source.workflow.ts'

const SOURCE = '/outbox/report.txt'
const COPY = '/archive/report.txt'
const untouched = { ...cleanup }

beforeEach(() => {
  Object.assign(cleanup, { isRehearsal: false, workFolder: mkdtempSync(join(tmpdir(), 'cleanup-')) })
})
afterEach(() => {
  rmSync(cleanup.workFolder, { recursive: true, force: true })
  Object.assign(cleanup, untouched)
})

/** Completes a transfer in the sandbox and returns its event. */
async function transfer(t: Testbed, path = SOURCE, content = 'the report') {
  await t.storage('storage_a').put(path, content)
  const sandbox = await t.sandbox()
  const { done } = await sandbox.transfers.start({ from: ['storage_a', path], to: ['storage_b', COPY] })
  await done
  return t.emitted('transfer.completed')
}

async function sources(t: Testbed): Promise<string[]> {
  const entries = await t.storage('storage_a').list()
  return entries.filter(({ type }) => type === 'file').map(({ path }) => path)
}

test('a source is deleted once its copy has been the same for the whole grace', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.send(await transfer(t))
  assert.deepEqual(await sources(t), [SOURCE])
  await t.advance('14m')
  assert.deepEqual(await sources(t), [SOURCE])
  await t.advance('1m')
  assert.deepEqual(t.run(workflow).output, { decision: 'deleted', outcome: 'deleted' })
  assert.deepEqual(await sources(t), [])
  assert.equal((await t.storage('storage_b').get(COPY)).toString(), 'the report')
})

const accidents: [string, (t: Testbed) => Promise<unknown>, string][] = [
  ['the copy has other bytes', (t) => t.storage('storage_b').put(COPY, 'the rep0rt'), 'the copy is not the same'],
  ['the copy is shorter', (t) => t.storage('storage_b').put(COPY, 'the'), 'the copy is not the same'],
  ['the copy is gone', (t) => t.storage('storage_b').remove(COPY), 'the copy is not the same'],
  ['the source is gone', (t) => t.storage('storage_a').remove(SOURCE), 'the source is gone already'],
]
for (const [accident, happen, why] of accidents) {
  test(`a source is kept when ${accident}`, async () => {
    await using t = await testbed({ workflows: [workflow] })
    const event = await transfer(t)
    await happen(t)
    await t.send(event)
    await t.advance('15m')
    assert.deepEqual(t.run(workflow).output, { decision: 'kept', why })
  })
}

test('a source that changes during the grace is kept', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.send(await transfer(t))
  await t.advance('10m')
  await t.storage('storage_a').put(SOURCE, 'a new report')
  await t.advance('5m')
  assert.equal(t.run(workflow).output?.decision, 'kept')
  assert.deepEqual(await sources(t), [SOURCE])
})

test('a source is kept when its copy is lost during the grace', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.send(await transfer(t))
  await t.storage('storage_b').remove(COPY)
  await t.advance('15m')
  assert.deepEqual(t.run(workflow).output, { decision: 'kept', why: 'the copy did not stay as it was' })
})

test('a source outside of the configured folders is left alone', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await t.send(await transfer(t, '/outbox-old/report.txt'))
  assert.equal(t.run(workflow).status, 'skipped')
})

test('a rehearsal deletes nothing and logs each deletion', async () => {
  cleanup.isRehearsal = true
  await using t = await testbed({ workflows: [workflow] })
  await t.send(await transfer(t))
  await t.advance('15m')
  assert.equal(t.run(workflow).output?.decision, 'kept')
  assert.ok(
    t
      .run(workflow)
      .logs()
      .some(({ message }) => message === `would delete storage_a:${SOURCE}`),
  )
  assert.deepEqual(await sources(t), [SOURCE])
})

test('a source is deleted once wherever the app crashes', async () => {
  const { crashes } = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    await t.send(await transfer(t))
    await t.advance('15m')
    return { decision: t.run(workflow).output?.decision, sources: await sources(t) }
  })
  assert.ok(crashes > 0)
})
