import { expect, onTestFinished, test } from 'vitest'
import { DefinitionWatch } from '../../../src/app/engine/definition-watch.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { openTestStore } from '../../support/test-store.ts'

/** A worker of old code beside one of new code, and the watch of the old one. */
async function openWatch() {
  const store = openTestStore()
  const clock = new ManualClock()
  const load = (worker: string, ...eventTypes: string[]) => {
    const workflow = { id: 'a', file: 'a.workflow.ts', eventTypes, schedule: null }
    return { workflows: [workflow], broken: [], worker }
  }
  const start = async (worker: string, ...eventTypes: string[]) => {
    await store.startWorker(worker, clock.now())
    await store.saveWorkflows(load(worker, ...eventTypes), clock.now())
  }
  await start('wrk_old', 'file.created')
  await start('wrk_new', 'file.deleted')
  const loaded = () => load('wrk_old', 'file.created')
  const watch = new DefinitionWatch({ store, clock, loaded, publish: ({ kind }) => expect.unreachable(kind) })
  watch.start()
  onTestFinished(() => watch.stop())
  /** Moves the clock on, look by look, and reads the event types that are left then. */
  const typesAfter = async (minutes: number) => {
    const end = clock.now() + minutes * 60_000
    while (clock.now() < end) {
      clock.set(clock.nextAt() ?? expect.unreachable('no look is ahead'))
      // The next look is planned once this one has ended.
      while (clock.nextAt() === null) await new Promise(setImmediate)
    }
    return (await store.listWorkflows()).flatMap(({ eventTypes }) => eventTypes)
  }
  return { store, clock, start, typesAfter }
}

test('old code decides once no worker has had newer code for ten minutes', async () => {
  const { store, typesAfter } = await openWatch()
  expect(await typesAfter(20)).toEqual(['file.created', 'file.deleted'])
  await store.stopWorker('wrk_new')
  expect(await typesAfter(10)).toEqual(['file.created', 'file.deleted'])
  expect(await typesAfter(1)).toEqual(['file.created'])
})

test('the ten minutes begin again where a worker with the newer code comes back', async () => {
  const { store, start, typesAfter } = await openWatch()
  await store.stopWorker('wrk_new')
  await typesAfter(8)
  await start('wrk_newer', 'file.deleted')
  await typesAfter(1)
  await store.stopWorker('wrk_newer')
  expect(await typesAfter(10)).toEqual(['file.created', 'file.deleted'])
  expect(await typesAfter(1)).toEqual(['file.created'])
})

test('the ten minutes pass at their own pace where the clock is moved meanwhile', async () => {
  const { store, clock, typesAfter } = await openWatch()
  await store.stopWorker('wrk_new')
  await typesAfter(2)
  clock.set(clock.now() + 3_600_000)
  while (clock.nextAt() === null) await new Promise(setImmediate)
  expect(await typesAfter(7)).toEqual(['file.created', 'file.deleted'])
  expect(await typesAfter(1)).toEqual(['file.created'])
})
