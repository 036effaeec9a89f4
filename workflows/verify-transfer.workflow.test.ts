import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verification } from '../config/verification.ts'
import type { TransferRecord } from '../src/sandbox/transfer-record.ts'
import { type Bench, openBench, outputOf, override, type Told } from '../test/workflows/bench.ts'
import { crashAtEveryWrite } from '../test/workflows/crash.ts'
import workflow from './verify-transfer.workflow.ts'

const SOURCE = '/in/report.pdf'
const TARGET = '/archive/report.pdf'
const SENT = 'what was sent'
const SPOILT = 'what was sEnt'

/**
 * A transfer, what was done to either file before it ended, as `spoil` says, and what was done a minute later. Gives the
 * event of its end.
 */
async function transfer(
  bench: Bench,
  { spoil, after }: { spoil?: (bench: Bench) => Promise<unknown>; after?: (bench: Bench) => Promise<unknown> } = {},
): Promise<Told & { data: { transfer: TransferRecord } }> {
  const { sandbox } = bench
  await sandbox.storage('storage_a').put(SOURCE, SENT)
  const { done } = await sandbox.transfers.start({ from: ['storage_a', SOURCE], to: ['storage_b', TARGET] })
  const record = await done
  await sandbox.clock.advance('1m')
  await spoil?.(bench)
  const finishedAt = new Date(sandbox.clock.now()).toISOString()
  await sandbox.clock.advance('1m')
  await after?.(bench)
  return { ...bench.told('transfer.completed'), data: { transfer: { ...record, finishedAt } } }
}

const put = (service: 'storage_a' | 'storage_b', path: string, bytes: string) => (bench: Bench) =>
  bench.sandbox.storage(service).put(path, bytes)
const remove = (service: 'storage_a' | 'storage_b', path: string) => (bench: Bench) =>
  bench.sandbox.storage(service).remove(path)

test('finds a match where the contents are the same, and writes a report', async () => {
  const bench = await openBench(workflow)
  const event = await transfer(bench)
  const { id } = event.data.transfer
  expect(outputOf(await bench.follow(event))).toEqual({
    verdict: 'match',
    reason: 'the contents are the same',
    report: join(bench.folder, 'reports', `${id}.json`),
  })
  expect(bench.document('reports', `${id}.json`)).toMatchObject({
    verdict: 'match',
    event: event.id,
    transfer: { id, source: { service: 'storage_a', path: SOURCE } },
    sent: { path: SOURCE, size: SENT.length },
    arrived: { path: TARGET, size: SENT.length },
  })
  expect(bench.written()).toEqual([`reports/${id}.json`])
})

test.each([
  ['other bytes of the same size arrived', { spoil: put('storage_b', TARGET, SPOILT) }, 'mismatch', 'contents differ'],
  ['half of the bytes arrived', { spoil: put('storage_b', TARGET, 'what') }, 'mismatch', '4 bytes arrived of 13'],
  ['the copy is gone', { after: remove('storage_b', TARGET) }, 'missing', 'no file at the destination'],
  ['the copy was changed since', { after: put('storage_b', TARGET, SPOILT) }, 'unverifiable', 'copy was changed'],
  ['the source is gone', { after: remove('storage_a', SOURCE) }, 'unverifiable', 'source is gone'],
  ['the source was changed since', { after: put('storage_a', SOURCE, SPOILT) }, 'unverifiable', 'source was changed'],
])('where %s', async (_, what, verdict, reason) => {
  const bench = await openBench(workflow)
  const event = await transfer(bench, what)
  const finding = { verdict, reason: expect.stringContaining(reason) }
  expect(outputOf(await bench.follow(event))).toMatchObject(finding)
  expect(bench.document('reports', `${event.data.transfer.id}.json`)).toMatchObject(finding)
  expect(bench.written()).toHaveLength(1)
})

test('blames the transfer for half a copy also when the source is gone', async () => {
  const bench = await openBench(workflow)
  const event = await transfer(bench, {
    spoil: put('storage_b', TARGET, 'what'),
    after: remove('storage_a', SOURCE),
  })
  expect(outputOf(await bench.follow(event))).toMatchObject({ verdict: 'mismatch' })
})

test('downloads nothing that is larger than the limit, and compares size and name', async () => {
  override(verification, { largestBytes: SENT.length - 1 })
  const bench = await openBench(workflow)
  const event = await transfer(bench, { spoil: put('storage_b', TARGET, SPOILT) })
  const run = await bench.follow(event)
  expect(outputOf(run)).toMatchObject({ verdict: 'match', reason: expect.stringContaining('too large') })
  const steps = await bench.engine.store.listSteps(run.id)
  expect(steps.map((step) => step.key.replace(/\[.*/, ''))).toEqual(['files.get', 'files.get', 'write report'])
})

test.each([
  ['the source', remove('storage_a', SOURCE), 'unverifiable'],
  [
    'the source and the copy',
    (bench: Bench) => Promise.all([remove('storage_a', SOURCE)(bench), remove('storage_b', TARGET)(bench)]),
    'missing',
  ],
])('looks again when %s vanished before the download', async (_, vanish, verdict) => {
  const bench = await openBench(workflow)
  const event = await transfer(bench)
  bench.engine.notices
    .once('step.completed', ({ step }) => step.startsWith('files.get[storage_b'))
    .then(async () => void (await vanish(bench)))
  expect(outputOf(await bench.follow(event))).toMatchObject({ verdict })
  expect(bench.written()).toHaveLength(1)
})

test('finds the copy by its path where the event names no id', async () => {
  const bench = await openBench(workflow)
  const event = await transfer(bench)
  Object.assign(event.data.transfer, { destination: { service: 'storage_b', path: TARGET } })
  expect(outputOf(await bench.follow(event))).toMatchObject({ verdict: 'match' })
})

test('comes to the same verdict and leaves the same files wherever it crashes', { timeout: 60_000 }, async () => {
  const crashes = await crashAtEveryWrite(async (crash) => {
    const bench = await openBench(workflow, { crash })
    const event = await transfer(bench)
    expect(outputOf(await bench.follow(event))).toMatchObject({ verdict: 'match' })
    expect(bench.written()).toEqual([`reports/${event.data.transfer.id}.json`])
  })
  expect(crashes).toBe(8)
})

test('parks an event of another shape for a person, and says what is wrong with it', async () => {
  const bench = await openBench(workflow)
  const event = await transfer(bench)
  Object.assign(event.data.transfer, { destination: { service: 'storage_x', path: 'nowhere' } })
  const run = await bench.follow(event)
  expect(run).toMatchObject({ status: 'waiting', dueAt: null })
  expect(run.reason).toMatch(/data\.transfer\.destination\.service: .*data\.transfer\.destination\.path: /)
  expect(bench.written()).toEqual([])
})
