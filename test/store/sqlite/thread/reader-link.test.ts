import { expect, onTestFinished, test } from 'vitest'
import { ReaderLink } from '../../../../src/store/sqlite/thread/reader-link.ts'
import { openThreadedStore } from '../../../../src/store/sqlite/thread/threaded-store.ts'
import { incoming, NOW } from '../../../support/fixtures.ts'
import { openTestStore } from '../../../support/test-store.ts'

/** A store with one event, and a link to a reader thread on its file. */
async function openLink(options: ConstructorParameters<typeof ReaderLink>[1] = {}) {
  const store = openTestStore()
  await store.saveDelivery(incoming('evt_1'))
  const link = new ReaderLink({ file: `${store.folder}/upshot.db`, vaultKey: Buffer.alloc(32) }, options)
  onTestFinished(() => link.close())
  return { store, link }
}

const slice = { rows: 10, limit: 10, after: null }

test('a question of a person is answered by another thread, while this one goes on', async () => {
  const store = openTestStore(undefined, openThreadedStore)
  await store.saveDelivery(incoming('evt_1'))
  let turns = 0
  const turn = () => {
    turns += 1
    waiting = setImmediate(turn)
  }
  let waiting = setImmediate(turn)
  await store.searchEvents({}, slice)
  expect(turns).toBe(0)
  expect((await store.aside.searchEvents({}, slice)).items).toMatchObject([{ id: 'evt_1' }])
  expect(turns).toBeGreaterThan(0)
  clearImmediate(waiting)
})

test('the reader thread sees every write that was answered before', async () => {
  const { store, link } = await openLink()
  for (let n = 2; n <= 20; n++) {
    await store.saveDelivery(incoming(`evt_${n}`))
    expect((await link.reads.searchEvents({}, { ...slice, limit: 1 })).items).toMatchObject([{ id: `evt_${n}` }])
  }
})

test('no more questions wait than the bound says, and those that wait are answered', async () => {
  const { link } = await openLink({ maxWaiting: 2 })
  const asked = await Promise.allSettled([1, 2, 3].map(() => link.reads.countRuns(NOW)))
  expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(asked[2]).toMatchObject({ reason: { code: 'too_many_requests' } })
  await link.reads.countRuns(NOW)
})

test('the reader thread ends when nobody asks, and the next question starts another one', async () => {
  const { link } = await openLink({ idleMs: 0 })
  for (let n = 0; n < 3; n++) {
    expect((await link.reads.searchEvents({}, slice)).items).toHaveLength(1)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
})

test('closing answers the questions that wait, and refuses later ones', async () => {
  const { link } = await openLink()
  const asked = link.reads.searchEvents({}, slice)
  const closed = link.close()
  expect((await asked).items).toHaveLength(1)
  await closed
  await expect(link.reads.findEvents('evt_1')).rejects.toMatchObject({ code: 'store_unavailable' })
})

test('a fault of the database rejects the question with its code, and the thread goes on', async () => {
  const { link } = await openLink()
  const broken = link.reads.readOutput('run_none', null)
  await expect(broken).rejects.toMatchObject({ code: expect.stringMatching(/not_found|store_unavailable/) })
  expect((await link.reads.searchEvents({}, slice)).items).toHaveLength(1)
})

test('a few small events are indexed without the thread, and large ones with it', async () => {
  const store = openTestStore(undefined, openThreadedStore)
  const threads = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
  const before = threads()
  expect(await store.aside.readSubjects(10)).toBeNull()
  await store.saveDelivery(incoming('evt_1'))
  const small = await store.aside.readSubjects(10)
  expect(small).toMatchObject({ after: 0, to: 1 })
  if (small) await store.saveSubjects(small)
  expect(threads()).toBe(before)
  await store.saveDelivery(incoming('evt_2', { data: { note: 'x'.repeat(100_000) } }))
  expect(await store.aside.readSubjects(10)).toMatchObject({ after: 1, to: 2 })
  expect(threads()).toBeGreaterThan(before)
})
