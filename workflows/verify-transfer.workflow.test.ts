import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verification } from '../config/verification.ts'
import type { ServiceEvent } from '../src/core/incoming/event.ts'
import type { TransferRecord } from '../src/sandbox/transfers/transfer-table.ts'
import { crashEverywhere, type Testbed, testbed } from '../src/testing/index.ts'
import { follow, outputOf, override, useOutput } from '../test/support/sample-output.ts'
import workflow from './verify-transfer.workflow.ts'

const out = useOutput()

const SOURCE = '/in/report.pdf'
const TARGET = '/archive/report.pdf'
const SENT = 'what was sent'
const SPOILT = 'what was sEnt'

/**
 * Makes a transfer and returns the event of its end. `spoil` changes files before the end, `after`
 * a minute later.
 */
async function transfer(
  t: Testbed,
  { spoil, after }: { spoil?: (t: Testbed) => Promise<unknown>; after?: (t: Testbed) => Promise<unknown> } = {},
): Promise<ServiceEvent<string, { transfer: TransferRecord }>> {
  const sandbox = await t.sandbox()
  await t.storage('storage_a').put(SOURCE, SENT)
  const { done } = await sandbox.transfers.start({ from: ['storage_a', SOURCE], to: ['storage_b', TARGET] })
  const record = await done
  await t.advance('1m')
  await spoil?.(t)
  const finishedAt = new Date(t.now()).toISOString()
  await t.advance('1m')
  await after?.(t)
  return { ...t.emitted('transfer.completed'), data: { transfer: { ...record, finishedAt } } }
}

const put = (service: 'storage_a' | 'storage_b', path: string, bytes: string) => (t: Testbed) =>
  t.storage(service).put(path, bytes)
const remove = (service: 'storage_a' | 'storage_b', path: string) => (t: Testbed) => t.storage(service).remove(path)

test('the report on equal contents says that they match', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t)
  const { id } = event.data.transfer
  expect(outputOf(await follow(t, event))).toEqual({
    verdict: 'match',
    reason: 'the contents are the same',
    report: join(out.path, 'reports', `${id}.json`),
  })
  expect(out.document('reports', `${id}.json`)).toMatchObject({
    verdict: 'match',
    event: event.id,
    transfer: { id, source: { service: 'storage_a', path: SOURCE } },
    sent: { path: SOURCE, size: SENT.length },
    arrived: { path: TARGET, size: SENT.length },
  })
  expect(out.written()).toEqual([`reports/${id}.json`])
})

test('the report on equal hashes that no size proves does not say that they match', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t)
  const found = { ...event.data.transfer.source, type: 'file', id: 'a', size: null, modifiedAt: null }
  const finding = await workflow.run({
    event,
    files: { find: async () => found, hash: async () => ({ sha256: 'same', bytes: 5, proof: 'none' }) },
    step: { run: (_name: string, fn: () => unknown) => fn() },
    log: { info: () => {} },
  } as unknown as Parameters<typeof workflow.run>[0])
  expect(finding).toMatchObject({ verdict: 'unverifiable', reason: expect.stringContaining('no size') })
})

test('the report on a transferred folder says that only files are compared', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const sandbox = await t.sandbox()
  await t.storage('storage_a').put(SOURCE, SENT)
  await (await sandbox.transfers.start({ from: ['storage_a', '/in'], to: ['storage_b', '/'] })).done
  expect(outputOf(await follow(t, t.emitted('transfer.completed')))).toMatchObject({
    verdict: 'unverifiable',
    reason: expect.stringContaining('a folder was transferred'),
  })
})

test.each([
  ['other bytes of the same size arrived', { spoil: put('storage_b', TARGET, SPOILT) }, 'mismatch', 'contents differ'],
  ['half of the bytes arrived', { spoil: put('storage_b', TARGET, 'what') }, 'mismatch', '4 bytes arrived of 13'],
  ['the copy is gone', { after: remove('storage_b', TARGET) }, 'missing', 'no file at the destination'],
  ['the copy was changed afterwards', { after: put('storage_b', TARGET, SPOILT) }, 'unverifiable', 'copy was changed'],
  ['the source is gone', { after: remove('storage_a', SOURCE) }, 'unverifiable', 'source is gone'],
  [
    'the source was changed afterwards',
    { after: put('storage_a', SOURCE, SPOILT) },
    'unverifiable',
    'source was changed',
  ],
])('the report is right when %s', async (_, what, verdict, reason) => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t, what)
  const finding = { verdict, reason: expect.stringContaining(reason) }
  expect(outputOf(await follow(t, event))).toMatchObject(finding)
  expect(out.document('reports', `${event.data.transfer.id}.json`)).toMatchObject(finding)
  expect(out.written()).toHaveLength(1)
})

test('the report says that half a copy is a mismatch even if the source is gone', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t, {
    spoil: put('storage_b', TARGET, 'what'),
    after: remove('storage_a', SOURCE),
  })
  expect(outputOf(await follow(t, event))).toMatchObject({ verdict: 'mismatch' })
})

test('a file over the size limit is compared by size and name, without a download', async () => {
  override(verification, { maxBytes: SENT.length - 1 })
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t, { spoil: put('storage_b', TARGET, SPOILT) })
  const run = await follow(t, event)
  expect(outputOf(run)).toMatchObject({ verdict: 'match', reason: expect.stringContaining('too large') })
  expect(run.steps().map((step) => step.key.replace(/\[.*/, ''))).toEqual(['files.find', 'files.find', 'write report'])
})

test.each([
  ['the source', remove('storage_a', SOURCE), 'unverifiable'],
  [
    'the source and the copy',
    (t: Testbed) => Promise.all([remove('storage_a', SOURCE)(t), remove('storage_b', TARGET)(t)]),
    'missing',
  ],
])('the verification looks again when %s vanished before the download', async (_, vanish, verdict) => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t)
  t.notices
    .once('step.completed', ({ step }) => step.startsWith('files.find[storage_b'))
    .then(async () => void (await vanish(t)))
  expect(outputOf(await follow(t, event))).toMatchObject({ verdict })
  expect(out.written()).toHaveLength(1)
})

test('the verification finds the copy by its path where the event names no id', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t)
  Object.assign(event.data.transfer, { destination: { service: 'storage_b', path: TARGET } })
  expect(outputOf(await follow(t, event))).toMatchObject({ verdict: 'match' })
})

test('the verification understands the service’s own names of the storages', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t)
  Object.assign(event.data.transfer.source, { service: 'Storage-A' })
  expect(outputOf(await follow(t, event))).toMatchObject({ verdict: 'match' })
})

test('the verification has one verdict and one report wherever the app crashes', { timeout: 60_000 }, async () => {
  const { writes } = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    out.renew()
    const event = await transfer(t)
    expect(outputOf(await follow(t, event))).toMatchObject({ verdict: 'match' })
    expect(out.written()).toEqual([`reports/${event.data.transfer.id}.json`])
  })
  expect(writes).toBe(6)
})

test('a run of the verification waits for a person when its event does not fit the schema, and says why', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await transfer(t)
  Object.assign(event.data.transfer, { destination: { service: 'storage_x', path: 'nowhere' } })
  const run = await follow(t, event)
  expect(run).toMatchObject({ status: 'waiting', dueAt: null })
  expect(run.reason).toMatch(/data\.transfer\.destination\.service: .*data\.transfer\.destination\.path: /)
  expect(out.written()).toEqual([])
})
