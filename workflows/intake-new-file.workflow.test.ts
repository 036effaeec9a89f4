import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { intakePolicy } from '../config/intake-policy.ts'
import type { ServiceEvent } from '../src/core/incoming/event.ts'
import { crashEverywhere, type Testbed, testbed } from '../src/testing/index.ts'
import { follow, outputOf, override, useOutput } from '../test/support/sample-output.ts'
import workflow from './intake-new-file.workflow.ts'

const out = useOutput()

/** SHA-256 of `hello`, from `printf hello | sha256sum`. */
const HELLO = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

async function drop(t: Testbed, path: string, bytes = 'hello'): Promise<ServiceEvent> {
  await t.storage('storage_a').put(path, bytes)
  return t.emitted('file.created')
}

async function stored(t: Testbed): Promise<string[]> {
  const entries = await t.storage('storage_a').list()
  return entries.filter((entry) => entry.type === 'file').map((entry) => entry.path)
}

test('a permitted new file is recorded with its hash and kept', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await drop(t, '/inbox/2026/notes.txt')
  expect(outputOf(await follow(t, event))).toEqual({
    decision: 'kept',
    forbidden: null,
    sha256: HELLO,
    record: join(out.path, 'intake', `${event.id}.json`),
  })
  expect(out.document('intake', `${event.id}.json`)).toMatchObject({
    decision: 'kept',
    sha256: HELLO,
    file: { service: 'storage_a', path: '/inbox/2026/notes.txt', size: 5 },
  })
  expect(out.written()).toEqual([`intake/${event.id}.json`])
  expect(await stored(t)).toEqual(['/inbox/2026/notes.txt'])
})

test.each(['setup.exe', 'SETUP.EXE', 'invoice.pdf.js', 'trick.exe. .', 'Thumbs.db'])(
  'a forbidden file named %s is deleted after its hash was recorded',
  async (name) => {
    await using t = await testbed({ workflows: [workflow] })
    out.renew()
    const event = await drop(t, `/inbox/${name}`)
    expect(outputOf(await follow(t, event))).toMatchObject({
      decision: 'deleted',
      forbidden: 'its name',
      sha256: HELLO,
    })
    expect(out.document('intake', `${event.id}.json`)).toMatchObject({ decision: 'deleted', sha256: HELLO })
    expect(await stored(t)).toEqual([])
  },
)

test('a file over the size limit is deleted without a download', async () => {
  override(intakePolicy, { maxBytes: 4 })
  await using t = await testbed({ workflows: [workflow] })
  const event = await drop(t, '/inbox/film.mp4')
  const run = await follow(t, event)
  expect(outputOf(run)).toMatchObject({
    decision: 'deleted',
    forbidden: expect.stringContaining('its size'),
    sha256: null,
  })
  expect(run.steps().map((step) => step.effect)).toEqual(['read', 'delete', 'write'])
  expect(await stored(t)).toEqual([])
})

test.each([['/setup.exe'], ['/documents/setup.exe'], ['/inbox-old/setup.exe'], ['/documents/inbox/setup.exe']])(
  'the file %s is left alone because it is in no folder of the policy',
  async (path) => {
    await using t = await testbed({ workflows: [workflow] })
    out.renew()
    expect(await follow(t, await drop(t, path))).toMatchObject({ status: 'skipped' })
    expect(await stored(t)).toEqual([path])
    expect(out.written()).toEqual([])
  },
)

test('a policy with the root folder covers every file', async () => {
  override(intakePolicy, { folders: ['/'] })
  await using t = await testbed({ workflows: [workflow] })
  expect(outputOf(await follow(t, await drop(t, '/a/setup.exe')))).toMatchObject({ decision: 'deleted' })
})

test.each<[string, (t: Testbed) => Promise<void>]>([
  ['was changed', async (t) => void (await drop(t, '/inbox/setup.exe', 'other'))],
  ['has grown', async (t) => void (await drop(t, '/inbox/setup.exe', 'hello and more'))],
  [
    'was moved',
    async (t) => {
      const storage = (await t.sandbox()).storage('storage_a')
      const passing = storage.draftPath()
      renameSync(join(storage.dir, 'inbox/setup.exe'), passing)
      storage.adopt(passing, '/documents/setup.exe')
    },
  ],
])('a forbidden file that %s since its event is never deleted', async (_, change) => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await drop(t, '/inbox/setup.exe')
  await t.advance('1s')
  await change(t)
  const run = await follow(t, event)
  expect(outputOf(run)).toMatchObject({ decision: 'changed', forbidden: 'its name' })
  expect(run.steps().filter((step) => step.effect === 'delete')).toEqual([])
  expect(await stored(t)).toHaveLength(1)
})

test('a forbidden file that changes just before its deletion is not deleted', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await drop(t, '/inbox/setup.exe')
  const storage = (await t.sandbox()).storage('storage_a')
  t.notices.subscribe('step.completed', ({ step }) => {
    if (!step.startsWith('files.find')) return
    const draft = storage.draftPath()
    writeFileSync(draft, 'other bytes')
    storage.adopt(draft, '/inbox/setup.exe')
  })
  expect(outputOf(await follow(t, event))).toMatchObject({ decision: 'changed' })
  expect(await stored(t)).toEqual(['/inbox/setup.exe'])
})

test('a file that is gone before the run begins is recorded as gone', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await drop(t, '/inbox/setup.exe')
  await t.storage('storage_a').remove('/inbox/setup.exe')
  expect(outputOf(await follow(t, event))).toMatchObject({ decision: 'gone', sha256: null })
})

test('a new file at the path of a deleted one is not taken for it', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await drop(t, '/inbox/setup.exe')
  await t.storage('storage_a').remove('/inbox/setup.exe')
  await drop(t, '/inbox/setup.exe')
  expect(outputOf(await follow(t, event))).toMatchObject({ decision: 'gone' })
  expect(await stored(t)).toEqual(['/inbox/setup.exe'])
})

test('a forbidden file is deleted once and recorded the same wherever the app crashes', {
  timeout: 60_000,
}, async () => {
  const { writes } = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    out.renew()
    const event = await drop(t, '/inbox/setup.exe')
    expect(outputOf(await follow(t, event))).toMatchObject({ decision: 'deleted', sha256: HELLO })
    expect(out.document('intake', `${event.id}.json`)).toMatchObject({ decision: 'deleted', sha256: HELLO })
    expect(out.written()).toEqual([`intake/${event.id}.json`])
    expect(await stored(t)).toEqual([])
    expect((await t.sandbox()).events.list({ type: 'file.deleted' })).toHaveLength(1)
  })
  expect(writes).toBe(7)
})

test('the name of an intake record is safe for any event id', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const event = { ...(await drop(t, '/inbox/notes.txt')), id: 'evt_/../../x' }
  outputOf(await follow(t, event))
  expect(out.written()).toEqual(['intake/evt_%2F..%2F..%2Fx.json'])
})

test.each([
  ['no size', { size: undefined }, /data\.file\.size/],
  ['an invalid date', { modifiedAt: 'yesterday' }, /data\.file\.modifiedAt/],
  ['an empty id', { id: '' }, /data\.file\.id/],
])('a run whose event has %s waits for a person and changes nothing', async (_, part, reason) => {
  await using t = await testbed({ workflows: [workflow] })
  const event = await drop(t, '/inbox/setup.exe')
  Object.assign((event.data as { file: object }).file, part)
  const run = await follow(t, event)
  expect(run).toMatchObject({ status: 'waiting', dueAt: null, reason: expect.stringMatching(reason) })
  expect(await stored(t)).toEqual(['/inbox/setup.exe'])
})
