import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ClaimWatch } from '../../../../src/app/engine/database/claim-watch.ts'
import { EngineThread } from '../../../../src/app/engine/engine-thread.ts'
import { Quarantine } from '../../../../src/app/engine/quarantine.ts'
import { SupervisedEngine } from '../../../../src/app/engine/supervised-engine.ts'
import type { Notice } from '../../../../src/core/notices.ts'
import { ManualClock } from '../../../../src/core/time.ts'
import { createNoticeBus } from '../../../../src/notices/notice-bus.ts'
import { openSharedStore } from '../../../../src/store/open-store.ts'
import { queueRun } from '../../../support/fixtures.ts'
import { DOOR } from '../../../support/program.ts'
import { makeProject } from '../../../support/start-process.ts'
import { testConfig } from '../../../support/test-config.ts'

const define = (id: string, run: string) => `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: '${id}', on: '*', run: ${run} })`
const MODULES = {
  'follow-up.workflow.ts': define('follow-up', '() => null'),
  'endless.workflow.ts': define('endless', '() => new Promise(() => {})'),
}

/** An engine whose watcher has a clock of its own, which `wait` moves while the loop turns. */
async function startEngine() {
  const root = makeProject(MODULES)
  const config = {
    ...testConfig(root),
    traces: null,
    engine: { hangMs: Number.POSITIVE_INFINITY, heapBytes: 2 ** 28, memoryBytes: 2 ** 35 },
  }
  const storeOptions = { file: join(root, 'upshot.db'), vaultKey: Buffer.alloc(32) }
  const store = await openSharedStore(storeOptions)
  const [clock, notices] = [new ManualClock(Date.now()), createNoticeBus()]
  const ended: Extract<Notice, { kind: 'engine.ended' }>[] = []
  notices.subscribe('engine.ended', (notice) => ended.push(notice))
  const short = Promise.withResolvers<void>()
  notices.subscribe('memory.short', () => short.resolve())
  const faults: Notice[] = []
  notices.subscribe('fault', (notice) => faults.push(notice))
  const threads: EngineThread[] = []
  const parts = { config, store, clock, notices }
  const engine = await SupervisedEngine.load({
    ...parts,
    quarantine: new Quarantine({ ...parts, storeOptions }),
    begin: ({ heard, skipped, broken }) => {
      const thread = new EngineThread({
        config,
        storeOptions,
        store,
        now: Date.now(),
        pulseMs: 5,
        skipped,
        broken,
        heard,
      })
      threads.push(thread)
      return thread
    },
  })
  onTestFinished(async () => {
    await engine.stop()
    await store.close()
  })
  await engine.start({
    baseUrl: 'http://127.0.0.1:1',
    apiKey: 'none',
    fallbackKey: null,
    plan: 'enterprise',
    storages: {},
  })
  const wait = async (seconds: number) => {
    for (let passed = 0; passed < seconds && ended.length === 0; passed += 5) {
      const thread = threads.at(-1)
      const beat = thread?.beat
      await expect.poll(() => thread?.beat !== beat || ended.length > 0).toBe(true)
      clock.advance('5s')
      // The look is over once another read is answered.
      await store.listLeases('')
    }
  }
  return { store, engine, threads, ended, faults, wait, isShort: short.promise }
}

test('an engine that has room and claims nothing for 30 s, while a run waits, says so and begins again', async () => {
  const { store, engine, threads, ended, faults, wait } = await startEngine()
  // Its slots are lost: it believes to be full.
  threads[0]?.counts.slots.close()
  await wait(60)
  expect({ ended, faults }).toEqual({ ended: [], faults: [] })
  const run = await queueRun(store, 'evt_1', 'follow-up')
  await store.pauseWorkflow('follow-up', Date.now())
  await wait(60)
  expect({ ended, faults }).toEqual({ ended: [], faults: [] })
  await store.resumeWorkflow('follow-up')
  await wait(25)
  expect(ended).toEqual([])
  await wait(Number.POSITIVE_INFINITY)
  const stalled = { cause: 'stalled', error: { message: expect.stringContaining(run) }, runs: [] }
  expect(ended).toMatchObject([stalled])
  await expect.poll(async () => (await store.findRun(run))?.status).toBe('completed')
  expect(threads).toHaveLength(2)
  await expect.poll(() => engine.isIdle()).toBe(true)
})

test('an engine whose memory is short has room in a tenth of its 20 slots alone', async () => {
  const { store, engine, threads, ended, wait, isShort } = await startEngine()
  const thread = threads[0] as EngineThread
  for (const event of ['evt_1', 'evt_2']) await queueRun(store, event, 'endless')
  engine.wake()
  await expect.poll(async () => (await store.listLeases(thread.id)).length).toBe(2)
  thread.counts.slots.close()
  await queueRun(store, 'evt_3', 'follow-up')
  thread.memory = async () => ({ heap: 0.9 * 2 ** 28, buffers: 0 })
  await wait(15)
  await isShort
  expect(engine.load.memory).toEqual({ heap: 0.9 * 2 ** 28, buffers: 0, isShort: true })
  await wait(60)
  expect(ended).toEqual([])
})

/** A watch of a worker with one run at work and one that waits, after 40 s. */
async function watchWorker(slots: number, fault?: Error) {
  const store = await openSharedStore({ file: join(makeProject({}), 'upshot.db'), vaultKey: Buffer.alloc(32) })
  const clock = new ManualClock(Date.now())
  await queueRun(store, 'evt_1', 'follow-up')
  expect(await store.claimRuns('wrk_1', 1, clock.now())).toHaveLength(1)
  const waiting = await queueRun(store, 'evt_2', 'follow-up')
  const told: string[] = []
  const faults: Notice[] = []
  const watched = {
    findClaimable: (worker: string, now: number) => store.findClaimable(worker, now),
    listLeases: (worker: string) => store.listLeases(worker),
    checkWritable: (now: number) => (fault ? Promise.reject(fault) : store.checkWritable(now)),
  }
  const thread = { id: 'wrk_1', counts: { claims: 1 } } as EngineThread
  const watch = new ClaimWatch({
    store: watched,
    clock,
    publish: (notice) => void faults.push(notice),
    slots: () => slots,
    thread: () => thread,
    stalled: async (_, message) => void told.push(message),
  })
  onTestFinished(async () => {
    watch.stop()
    await store.close()
  })
  watch.start()
  for (let passed = 0; passed < 40; passed += 5) {
    clock.advance('5s')
    // The look is over once others are answered.
    for (let read = 0; read < 3; read++) await store.listLeases('')
  }
  return { waiting, told, faults }
}

test.each([
  { slots: 2, says: 1 },
  { slots: 1, says: 0 },
])('a worker with one run at work and $slots slots is stalled where it has room alone', async ({ slots, says }) => {
  const { waiting, told } = await watchWorker(slots)
  await expect.poll(() => told).toEqual(Array(says).fill(expect.stringContaining(waiting)))
})

test('a worker whose database takes no write is not stalled, and the log says why it claims nothing', async () => {
  const { told, faults } = await watchWorker(2, new Error('a full disk'))
  expect(faults).toMatchObject([{ where: 'looking for runs to claim', error: { message: 'a full disk' } }])
  expect(told).toEqual([])
})
