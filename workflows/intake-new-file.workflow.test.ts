import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { intakePolicy } from '../config/intake-policy.ts'
import { type Bench, openBench, outputOf, override, type Told } from '../test/workflows/bench.ts'
import { crashAtEveryWrite } from '../test/workflows/crash.ts'
import workflow from './intake-new-file.workflow.ts'

/** SHA-256 of `hello`, from `printf hello | sha256sum`. */
const HELLO = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

async function drop(bench: Bench, path: string, bytes = 'hello'): Promise<Told> {
  await bench.sandbox.storage('storage_a').put(path, bytes)
  return bench.told('file.created')
}

function stored({ sandbox }: Bench): string[] {
  const entries = sandbox.storage('storage_a').list()
  return entries.filter((entry) => entry.type === 'file').map((entry) => entry.path)
}

test('records a new file with its hash and keeps it', async () => {
  const bench = await openBench(workflow)
  const event = await drop(bench, '/inbox/2026/notes.txt')
  expect(outputOf(await bench.follow(event))).toEqual({
    decision: 'kept',
    forbidden: null,
    sha256: HELLO,
    record: join(bench.folder, 'intake', `${event.id}.json`),
  })
  expect(bench.document('intake', `${event.id}.json`)).toMatchObject({
    decision: 'kept',
    sha256: HELLO,
    file: { service: 'storage_a', path: '/inbox/2026/notes.txt', size: 5 },
  })
  expect(bench.written()).toEqual([`intake/${event.id}.json`])
  expect(stored(bench)).toEqual(['/inbox/2026/notes.txt'])
})

test.each(['setup.exe', 'SETUP.EXE', 'invoice.pdf.js', 'trick.exe. .', 'Thumbs.db'])(
  'deletes a file named %s, and keeps its hash',
  async (name) => {
    const bench = await openBench(workflow)
    const event = await drop(bench, `/inbox/${name}`)
    expect(outputOf(await bench.follow(event))).toMatchObject({
      decision: 'deleted',
      forbidden: 'its name',
      sha256: HELLO,
    })
    expect(bench.document('intake', `${event.id}.json`)).toMatchObject({ decision: 'deleted', sha256: HELLO })
    expect(stored(bench)).toEqual([])
  },
)

test('deletes a file that is too large without downloading it', async () => {
  override(intakePolicy, { largestBytes: 4 })
  const bench = await openBench(workflow)
  const event = await drop(bench, '/inbox/film.mp4')
  const run = await bench.follow(event)
  expect(outputOf(run)).toMatchObject({
    decision: 'deleted',
    forbidden: expect.stringContaining('its size'),
    sha256: null,
  })
  const steps = await bench.engine.store.listSteps(run.id)
  expect(steps.map((step) => step.effect)).toEqual(['read', 'delete', 'write'])
  expect(stored(bench)).toEqual([])
})

test.each([['/setup.exe'], ['/documents/setup.exe'], ['/inbox-old/setup.exe'], ['/documents/inbox/setup.exe']])(
  'leaves %s alone: it is in no folder of the policy',
  async (path) => {
    const bench = await openBench(workflow)
    expect(await bench.follow(await drop(bench, path))).toMatchObject({ status: 'skipped' })
    expect(stored(bench)).toEqual([path])
    expect(bench.written()).toEqual([])
  },
)

test('looks at every file where the policy names the root', async () => {
  override(intakePolicy, { folders: ['/'] })
  const bench = await openBench(workflow)
  expect(outputOf(await bench.follow(await drop(bench, '/a/setup.exe')))).toMatchObject({ decision: 'deleted' })
})

test.each<[string, (bench: Bench) => Promise<void>]>([
  ['was changed', async (bench) => void (await drop(bench, '/inbox/setup.exe', 'other'))],
  ['has grown', async (bench) => void (await drop(bench, '/inbox/setup.exe', 'hello and more'))],
  [
    'was moved',
    async ({ sandbox }) => {
      const storage = sandbox.storage('storage_a')
      const passing = storage.draftPath()
      renameSync(join(storage.dir, 'inbox/setup.exe'), passing)
      storage.adopt(passing, '/documents/setup.exe')
    },
  ],
])('never deletes a file that %s since the event', async (_, change) => {
  const bench = await openBench(workflow)
  const event = await drop(bench, '/inbox/setup.exe')
  await bench.sandbox.clock.advance('1s')
  await change(bench)
  const run = await bench.follow(event)
  expect(outputOf(run)).toMatchObject({ decision: 'changed', forbidden: 'its name' })
  const steps = await bench.engine.store.listSteps(run.id)
  expect(steps.filter((step) => step.effect === 'delete')).toEqual([])
  expect(stored(bench)).toHaveLength(1)
})

test('never deletes a file that is changed just before', async () => {
  const bench = await openBench(workflow)
  const event = await drop(bench, '/inbox/setup.exe')
  const storage = bench.sandbox.storage('storage_a')
  bench.engine.notices.subscribe('step.completed', ({ step }) => {
    if (!step.startsWith('files.get')) return
    const draft = storage.draftPath()
    writeFileSync(draft, 'other bytes')
    storage.adopt(draft, '/inbox/setup.exe')
  })
  expect(outputOf(await bench.follow(event))).toMatchObject({ decision: 'changed' })
  expect(stored(bench)).toEqual(['/inbox/setup.exe'])
})

test('records a file that is gone before anyone could look', async () => {
  const bench = await openBench(workflow)
  const event = await drop(bench, '/inbox/setup.exe')
  await bench.sandbox.storage('storage_a').remove('/inbox/setup.exe')
  expect(outputOf(await bench.follow(event))).toMatchObject({ decision: 'gone', sha256: null })
})

test('does not mistake a new file at the same path for the one of the event', async () => {
  const bench = await openBench(workflow)
  const event = await drop(bench, '/inbox/setup.exe')
  await bench.sandbox.storage('storage_a').remove('/inbox/setup.exe')
  await drop(bench, '/inbox/setup.exe')
  expect(outputOf(await bench.follow(event))).toMatchObject({ decision: 'gone' })
  expect(stored(bench)).toEqual(['/inbox/setup.exe'])
})

test('decides the same, deletes once and leaves the same files wherever it crashes', { timeout: 60_000 }, async () => {
  const crashes = await crashAtEveryWrite(async (crash) => {
    const bench = await openBench(workflow, { crash })
    const event = await drop(bench, '/inbox/setup.exe')
    expect(outputOf(await bench.follow(event))).toMatchObject({ decision: 'deleted', sha256: HELLO })
    expect(bench.document('intake', `${event.id}.json`)).toMatchObject({ decision: 'deleted', sha256: HELLO })
    expect(bench.written()).toEqual([`intake/${event.id}.json`])
    expect(stored(bench)).toEqual([])
    expect(bench.sandbox.events.list({ type: 'file.deleted' })).toHaveLength(1)
  })
  expect(crashes).toBe(6)
})

test('names its record safely whatever the id of the event is', async () => {
  const bench = await openBench(workflow)
  const event = { ...(await drop(bench, '/inbox/notes.txt')), id: 'evt_/../../x' }
  outputOf(await bench.follow(event))
  expect(bench.written()).toEqual(['intake/evt_%2F..%2F..%2Fx.json'])
})

test.each([
  ['no size', { size: undefined }, /data\.file\.size/],
  ['a date that is none', { modifiedAt: 'yesterday' }, /data\.file\.modifiedAt/],
  ['an empty id', { id: '' }, /data\.file\.id/],
])('parks an event with %s for a person, and touches nothing', async (_, part, reason) => {
  const bench = await openBench(workflow)
  const event = await drop(bench, '/inbox/setup.exe')
  Object.assign((event.data as { file: object }).file, part)
  const run = await bench.follow(event)
  expect(run).toMatchObject({ status: 'waiting', dueAt: null, reason: expect.stringMatching(reason) })
  expect(stored(bench)).toEqual(['/inbox/setup.exe'])
})
