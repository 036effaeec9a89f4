import { expect } from 'vitest'
import { queueRun } from '../../support/fixtures.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

test('a key that throws or returns no string parks the run for a person before it starts', async ({ engine }) => {
  const keys = {
    throws: () => {
      throw new Error('no folder')
    },
    silent: () => undefined as never,
    late: (async () => {
      throw new Error('nobody awaits this')
    }) as never,
  }
  const run = () => 'ran'
  await engine.start(Object.entries(keys).map(([id, key]) => define(id, { concurrency: { limit: 1, key } }, run)))
  const why = async (id: string) => engine.run(id, `evt_${id}`)
  const forPerson = { status: 'waiting', dueAt: null, isInLine: false, startedAt: null }
  expect(await why('throws')).toMatchObject({
    ...forPerson,
    reason: expect.stringMatching(/^the key of `concurrency` threw: no folder, at \S+admit-run.test.ts:9$/),
  })
  expect(await why('silent')).toMatchObject({ ...forPerson, reason: expect.stringContaining('returned undefined') })
  expect(await why('late')).toMatchObject({
    ...forPerson,
    reason: expect.stringContaining('returned a promise, though it must be synchronous'),
  })
})

test.each([
  ['true', async () => true],
  ['false', async () => false],
  ['an error', () => Promise.reject(new Error('late'))],
])('a run whose filter returns a promise of %s waits for a person and has not started', async (_, where) => {
  const engine = createTestEngine()
  await engine.serve('filtered', { where: where as never }, () => 1)
  const reason = 'its `where` returned a promise; it must be synchronous'
  expect(await engine.run('filtered')).toMatchObject({ status: 'waiting', dueAt: null, startedAt: null, reason })
})

test('a filter that throws is named, with its line', async ({ engine }) => {
  const where = (event: object) => (event as { file: { path: string } }).file.path !== ''
  await engine.serve('filtered', { where: where as never }, () => 1)
  const reason = expect.stringMatching(/^its `where` threw: Cannot read .*'path'\), at \S+admit-run\.test\.ts:\d+$/)
  expect(await engine.run('filtered')).toMatchObject({ status: 'waiting', dueAt: null, startedAt: null, reason })
})

test.for([
  ['\ud800', 'half of a character'],
  ['a\0b', 'the character 0'],
] as const)('a limit key %j parks the run instead of counting as another one', async ([key, what], { engine }) => {
  await engine.serve('keyed', { singleton: { key: () => key } }, () => 1)
  const reason = expect.stringContaining(`the key of \`singleton\` holds ${what}`)
  expect(await engine.run('keyed')).toMatchObject({ status: 'waiting', dueAt: null, startedAt: null, reason })
})

test('a workflow without limits never calls the store to admit a run', async ({ engine }) => {
  const store = { ...engine.store, admitRun: () => Promise.reject(new Error('asked')) }
  await engine.start([define('plain', { priority: 3 }, () => 1)], { store })
  await queueRun(engine.store, 'evt_0', 'plain')
  expect(await engine.run('plain')).toMatchObject({ status: 'completed' })
})

test('a run of an event that was made up for before it came is skipped, and another runs', async ({ engine }) => {
  const ran: string[] = []
  const findMadeUp = async ({ id }: { id: string }) => (id === 'evt_late' ? 'evt_made' : null)
  const run = ({ event }: { event: { id: string } }) => void ran.push(event.id)
  await engine.start([define('clean', run)], { findMadeUp })
  expect(await engine.run('clean', 'evt_late')).toMatchObject({
    status: 'skipped',
    reason: 'made up for by evt_made',
  })
  expect(await engine.run('clean', 'evt_other')).toMatchObject({ status: 'completed' })
  expect(ran).toEqual(['evt_other'])
})

test('a run that is under way goes on where a changed filter would refuse its event, or throws', async ({ engine }) => {
  let where = (): boolean => true
  const acted: string[] = []
  await engine.serve('tidy', { where: () => where() }, async ({ step }) => {
    await step.run('first half', () => void acted.push('first'))
    await step.sleep('nap', '1m')
    await step.run('second half', () => void acted.push('second'))
  })
  const one = await engine.run('tidy', 'evt_1')
  where = () => false
  expect(await engine.advance(one.id, '1m')).toMatchObject({ status: 'completed' })
  expect(await engine.run('tidy', 'evt_2')).toMatchObject({ status: 'skipped' })
  where = () => true
  const other = await engine.run('tidy', 'evt_3')
  where = () => {
    throw new Error('no such field')
  }
  expect(await engine.advance(other.id, '1m')).toMatchObject({ status: 'completed' })
  expect(acted).toEqual(['first', 'second', 'first', 'second'])
})
