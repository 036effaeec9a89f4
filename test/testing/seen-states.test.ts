import { expect, onTestFinished, test, vi } from 'vitest'
import { defineWorkflow, type RunContext } from '../../src/author/index.ts'
import type { DeleteOptions } from '../../src/core/service/files-api.ts'
import type { FileEntry } from '../../src/files/index.ts'
import { crashEverywhere, type Testbed, testbed } from '../../src/testing/index.ts'
import { define } from '../support/workflows.ts'

const PATH = '/in/a.bak'
const CHANGED = 'something else, and longer'

/** Deletes one file with the author's own condition. The run has listed it, or has only its id. */
function condition(expectOf: (file: FileEntry) => unknown, { isListed = true } = {}) {
  return define(
    'condition',
    { on: 'file.created', retry: { attempts: 1 }, guard: { deletes: { perRun: 0 } } },
    async ({ files, event }) => {
      const { id = '' } = (event?.data ?? {}) as { id?: string }
      const listed = isListed ? (await files.snapshot({ service: 'storage_a', path: '/in' })).items[0] : undefined
      const file = listed ?? ({ service: 'storage_a', id } as FileEntry)
      const expected = expectOf(file) as NonNullable<DeleteOptions['expect']>
      return (await files.delete(file, { expect: expected })).outcome
    },
  )
}

async function start(t: Testbed) {
  const { id } = await t.storage('storage_a').put(PATH, 'four')
  await t.send('file.created', { id })
  const [approval] = await t.approvals()
  return approval
}

const left = async (t: Testbed) => (await t.storage('storage_a').list()).filter(({ path }) => path === PATH).length

const CONDITIONS: [string, (file: FileEntry) => unknown][] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['no parts', () => ({})],
  ['undefined parts', ({ path }) => ({ path, size: undefined, modifiedAt: undefined })],
  ['null parts', ({ path }) => ({ path, size: null, modifiedAt: null })],
  ['a path of null', () => ({ path: null, size: null, modifiedAt: null })],
  ['its path alone', () => ({ path: PATH })],
  ['its size alone', () => ({ size: 4 })],
  ['an object that changes meanwhile', (file) => fickle(file)],
]

/** Names the file's state once, and nothing from then on. */
function fickle({ path, size, modifiedAt }: FileEntry) {
  let reads = 0
  return {
    path,
    modifiedAt,
    get size() {
      return reads++ === 0 ? size : null
    },
  }
}

for (const isListed of [true, false]) {
  test.each(CONDITIONS)(
    `a person sees the file, and that state binds: ${isListed ? 'listed' : 'not read'}, %s`,
    async (_, expectOf) => {
      const workflow = condition(expectOf, { isListed })
      await using t = await testbed({ workflows: [workflow] })
      const approval = await start(t)
      const shown = { path: PATH, bytes: 4, modifiedAt: expect.any(String) }
      expect(approval?.items).toMatchObject([{ asked: shown }])
      await t.storage('storage_a').put(PATH, CHANGED)
      await t.approve(approval ?? '')
      for (const again of await t.approvals()) await t.deny(again)
      expect(await left(t)).toBe(1)
    },
  )

  test.each(CONDITIONS)(`a file as it was shown goes: ${isListed ? 'listed' : 'not read'}, %s`, async (_, expectOf) => {
    const workflow = condition(expectOf, { isListed })
    await using t = await testbed({ workflows: [workflow] })
    await t.approve((await start(t)) ?? '')
    expect(t.run(workflow)).toMatchObject({ status: 'completed', output: 'deleted' })
  })
}

test.each([
  ['size', { size: 5 }],
  ['date', { modifiedAt: '2001-01-01T00:00:00Z' }],
  ['path', { path: '/in/b.bak' }],
])('a person sees the file, not what its author claims, and another %s is no such file', async (_, claim) => {
  const workflow = condition(() => claim)
  await using t = await testbed({ workflows: [workflow] })
  const approval = await start(t)
  expect(approval?.items).toMatchObject([{ asked: { path: PATH, bytes: 4 } }])
  await t.approve(approval ?? '')
  expect(t.run(workflow)).toMatchObject({ status: 'completed', output: 'changed' })
  expect(await left(t)).toBe(1)
})

type Act = (file: FileEntry, context: RunContext, answer: Promise<unknown>) => Promise<unknown>

/** Asks people about one file, and acts beside the question. */
const asks = (act: Act) =>
  define('asks', { on: 'file.created', retry: { attempts: 1 } }, async (context) => {
    const { items } = await context.files.snapshot({ service: 'storage_a', path: '/in' })
    const answer = context.step.approve('retire', { ask: 'Delete it?', deletes: items })
    return act(items[0] as FileEntry, context, answer)
  })

test('a yes is for the file that was shown, also where the run has read it anew since', async () => {
  const anew = asks(async (file, { files }, answer) => {
    await answer
    return (await files.delete(await files.get(file))).outcome
  })
  await using t = await testbed({ workflows: [anew] })
  const approval = await start(t)
  await t.storage('storage_a').put(PATH, CHANGED)
  await t.approve(approval ?? '')
  expect(t.run(anew)).toMatchObject({ status: 'completed', output: 'changed' })
  expect(await left(t)).toBe(1)
})

test('a no to a file is also for the second delete of the same run', async () => {
  const stubborn = asks(async (file, { files }, answer) => {
    await answer
    await files.delete(file).catch(() => {})
    return (await files.delete(file)).outcome
  })
  await using t = await testbed({ workflows: [stubborn] })
  await t.deny((await start(t)) ?? '')
  expect(await left(t)).toBe(1)
  expect(t.run(stubborn)).toMatchObject({ status: 'failed', error: { code: 'denied' } })
})

const byId = define('by-id', { on: 'file.created', guard: { deletes: { perRun: 0 } } }, ({ files, event }) =>
  Promise.all((event.data.ids as string[]).map((id) => files.delete({ service: 'storage_a', id }))),
)
const approvals = defineWorkflow({
  id: 'approvals',
  on: ['upshot.approval.opened', 'upshot.approval.closed'],
  run: ({ event }) => event.type,
})

async function deleteById(t: Testbed, count: number) {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push((await t.storage('storage_a').put(`/in/${n}`, 'four')).id)
  await t.send('file.created', { ids })
  const [approval, ...others] = await t.approvals()
  return { others, numbers: approval?.items.map(({ number }) => number), opened: t.runs(approvals).length }
}

test.each([1, 3])('people are asked once about %s files of which the run knows only the id', async (count) => {
  const warn = vi.spyOn(process, 'emitWarning')
  onTestFinished(() => warn.mockRestore())
  await using t = await testbed({ workflows: [byId, approvals] })
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  expect(await deleteById(t, count)).toEqual({ others: [], numbers, opened: 1 })
  // The look at a file is the guard's, not a call of the author's code.
  expect(warn).not.toHaveBeenCalled()
})

test('people are asked once about such files wherever the run crashes', async () => {
  const report = await crashEverywhere({ workflows: [byId, approvals] }, (t) => deleteById(t, 2))
  expect(report.value).toEqual({ others: [], numbers: [1, 2], opened: 1 })
})
