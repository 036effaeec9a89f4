import { expect, test } from 'vitest'
import { defineWorkflow, type WorkflowGuard } from '../../src/author/index.ts'
import { type Testbed, testbed } from '../../src/testing/index.ts'
import { define } from '../support/workflows.ts'

/** Deletes everything below /in, one file after the other. */
function tidyWith(id: string, guard?: WorkflowGuard) {
  return defineWorkflow({
    id,
    on: 'file.created',
    retry: { attempts: 1 },
    ...(guard && { guard }),
    async run({ files }) {
      const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
      let deleted = 0
      for (const file of items) {
        const { outcome } = await files.delete(file)
        if (outcome === 'deleted') deleted += 1
      }
      return deleted
    },
  })
}

const tidy = tidyWith('tidy')

const NO_SHARE = { workflow: { deletes: { perRun: 3 } } }

async function fill(t: Testbed, count: number, folder = '/in'): Promise<void> {
  const storage = t.storage('storage_a')
  for (let n = 1; n <= count; n++) await storage.put(`${folder}/f${String(n).padStart(2, '0')}.bak`, `file ${n}`)
}

const left = async (t: Testbed) =>
  (await t.storage('storage_a').list()).filter(({ path }) => path.endsWith('.bak')).length

test('an approval that nobody decides expires, and counts as denied', async () => {
  await using t = await testbed({ workflows: [tidy], guard: NO_SHARE })
  await fill(t, 4)
  await t.send('file.created')
  await t.advance('8d')
  expect(t.run(tidy)).toMatchObject({ status: 'failed', error: { code: 'denied' } })
  expect(await left(t)).toBe(1)
  expect(await t.approvals()).toEqual([])
})

test('a stop holds the next delete, and its end lets the run go on', async () => {
  await using t = await testbed({ workflows: [tidy], guard: { workflow: {} } })
  await fill(t, 3)
  await t.stopEffects('something is wrong')
  await t.send('file.created')
  expect(await left(t)).toBe(3)
  expect(t.run(tidy)).toMatchObject({ status: 'waiting', reason: 'all effects are stopped: something is wrong' })
  await t.restart()
  expect(await left(t)).toBe(3)
  await t.resumeEffects()
  expect(t.run(tidy)).toMatchObject({ status: 'completed', output: 3 })
})

test('a limit per hour with "wait" goes on by itself when the window has room', async () => {
  const patient = tidyWith('patient', { deletes: { perHour: 2 }, over: 'wait' })
  await using t = await testbed({ workflows: [patient] })
  await fill(t, 4)
  await t.send('file.created')
  expect(await left(t)).toBe(2)
  expect(await t.approvals()).toEqual([])
  await t.advance('70m')
  expect(await left(t)).toBe(0)
})

test('a list that is longer than the limit asks people, where it would wait for ever', async () => {
  const patient = defineWorkflow({
    id: 'patient',
    on: 'file.created',
    guard: { deletes: { perHour: 2 }, over: 'wait' },
    async run({ files }) {
      const listing = await files.snapshot({ service: 'storage_a', path: '/in' })
      return (await files.deleteAll(listing.items, { of: listing })).deleted.length
    },
  })
  await using t = await testbed({ workflows: [patient] })
  await fill(t, 3)
  await t.send('file.created')
  const [approval] = await t.approvals()
  expect(approval?.items).toHaveLength(3)
  await t.approve(approval?.id ?? '')
  expect(t.run(patient)).toMatchObject({ status: 'completed', output: 3 })
})

test('a limit with "fail" fails the step at once', async () => {
  const strict = tidyWith('strict', { deletes: { perRun: 1 }, over: 'fail' })
  await using t = await testbed({ workflows: [strict] })
  await fill(t, 2)
  await t.send('file.created')
  expect(t.run('strict')).toMatchObject({ status: 'failed', error: { code: 'denied' } })
  expect(await left(t)).toBe(1)
})

test('a delete by id alone is looked up before a person decides, so that they see its path', async () => {
  const byId = define('by-id', { on: 'file.created', guard: { deletes: { perRun: 0 } } }, ({ files, event }) =>
    files.delete({ service: 'storage_a', id: String(event.data.id) }),
  )
  await using t = await testbed({ workflows: [byId] })
  const { id } = await t.storage('storage_a').put('/in/a.txt', 'four')
  await t.send('file.created', { id })
  const [approval] = await t.approvals()
  expect(approval?.items).toMatchObject([{ asked: { path: '/in/a.txt', bytes: 4 } }])
  await t.approve(approval ?? '')
  expect(t.run(byId)).toMatchObject({ status: 'completed', output: { outcome: 'deleted' } })
})

test('"once" steps obey a stop, and begin only once after it', async () => {
  let calls = 0
  const pay = define('pay', { on: 'file.created' }, ({ step }) => step.run('pay', () => ++calls, { once: true }))
  await using t = await testbed({ workflows: [pay] })
  await t.stopEffects()
  await t.send('file.created')
  expect(calls).toBe(0)
  await t.resumeEffects()
  expect([calls, t.run(pay).status]).toEqual([1, 'completed'])
})

test('a stop that comes between the permit of a delete and its request holds the delete', async () => {
  let stop = async (): Promise<void> => {}
  const race = define('race', { on: 'file.created' }, async ({ step, files }) => {
    const [file] = (await files.snapshot({ service: 'storage_a', path: '/in' })).items
    if (!file) return null
    const [deleted] = await Promise.all([files.delete(file), step.run('stop', () => stop())])
    return deleted.outcome
  })
  await using t = await testbed({ workflows: [race], guard: { workflow: {} } })
  // Its `stopEffects` would wait for this very run to rest.
  const people = (t as unknown as { people: { stop(reason: string): Promise<void> } }).people
  stop = () => people.stop('something is wrong')
  // A list of a thousand would log a thousand warnings of one stop.
  const failed: string[] = []
  t.notices.subscribe('step.failed', ({ step }) => failed.push(step))
  await fill(t, 1)
  await t.send('file.created')
  await t.advance('1s')
  expect(await left(t)).toBe(1)
  expect(t.run(race)).toMatchObject({ status: 'waiting', reason: 'all effects are stopped: something is wrong' })
  expect(failed).toEqual([])
  await t.resumeEffects()
  expect(t.run(race)).toMatchObject({ status: 'completed', output: 'deleted' })
  expect(await left(t)).toBe(0)
})
