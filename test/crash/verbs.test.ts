import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { planRoutes } from '../../src/author/read-workflow.ts'
import { callable } from '../../src/author/trigger.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import { Interrupted } from '../../src/core/errors.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import type { Store } from '../../src/core/store/store.ts'
import { ManualClock } from '../../src/core/time.ts'
import { Worker } from '../../src/engine/worker.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { awaitFound } from '../support/await-runs.ts'
import { countWrites } from '../support/count-writes.ts'
import { DATABASES, type DatabaseName, inDatabase, silenceWorkers } from '../support/databases.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { inStore, openPlace, type Place } from '../support/open-place.ts'
import { openTestStore } from '../support/test-store.ts'
import type { Moment } from './doom.ts'
import { dieAtEveryCall } from './every-call.ts'

const LATER = NOW + 864_000_000

const answered = defineEvent('verbs.answered', {
  data: z.object({ question: z.string() }),
  keys: { question: (data) => data.question },
})
const asked = defineEvent('verbs.asked', { data: z.object({ question: z.string() }) })
const ended = defineEvent('verbs.ended', { data: z.object({ run: z.string() }), keys: { run: (data) => data.run } })

/** A run that uses every verb, and the runs that it starts. `effect` hears of each function. */
function createWorkflows(effect: (run: string, step: string) => void): AnyWorkflow[] {
  const child = defineWorkflow({
    id: 'child',
    on: callable(z.number()),
    run: ({ input, run, step }) =>
      step.run('double', () => {
        effect(run.id, 'double')
        return input * 2
      }),
  })
  const listener = defineWorkflow({
    id: 'listener',
    on: asked,
    run: ({ event, step }) => step.send('answer', answered, { question: event.data.question }),
  })
  const victim = defineWorkflow({
    id: 'victim',
    on: 'verbs.started',
    cancelOn: { on: ended, where: { run: (event) => String(event.data.run) } },
    run: ({ step }) => step.sleep('nap', '10d'),
  })
  const verbs = defineWorkflow({
    id: 'verbs',
    on: 'file.created',
    retry: { attempts: 3, min: '1s', max: '1s' },
    run: async ({ run, step, tag }) => {
      await step.schedule('later', { workflow: child, at: LATER, input: 1 })
      await step.schedule('nightly', { workflow: child, cron: '0 3 * * *', input: 1 })
      tag('stage', 'planned')
      await step.unschedule('nightly')
      await step.send('remind', asked, { question: 'late' }, { at: LATER })
      await step.send('start', 'verbs.started', { run: run.id })
      const paid = await step
        .run('pay', () => effect(run.id, 'pay'), { once: true })
        .then(
          () => 'paid',
          (error: unknown) => (error instanceof Interrupted ? 'unknown' : 'failed'),
        )
      await step.send('ask', asked, { question: run.id })
      const [doubled, answer] = await Promise.all([
        step.invoke('child', child, 21),
        step.waitFor('answer', { on: answered, where: { question: run.id }, timeout: '1d', since: 'run' }),
      ])
      const texts = await step.map('text', [1, 2, 3], String, (n, { attempt }) => {
        if (n === 2 && attempt === 1) throw new Error('once')
        effect(run.id, `text[${n}]`)
        return 'x'.repeat(n * 50_000)
      })
      await step.sleep('nap', '1s')
      tag('stage', 'ending')
      await step.send('end', ended, { run: run.id })
      return { paid, doubled, answer: answer?.data.question === run.id, texts: texts.map((text) => text.length) }
    },
  })
  return [child, listener, victim, verbs]
}

/** One life of a process: a worker with its own store and clock, until a write or the end. */
async function live(
  own: Store,
  {
    death,
    now,
    effect,
  }: {
    death: { moment: Moment; write: number } | null
    now: number
    effect: (run: string, step: string) => void
  },
): Promise<{ died: boolean; now: number }> {
  const clock = new ManualClock(now)
  const notices = createNoticeBus()
  const dead = Promise.withResolvers<true>()
  let isDead = false
  const die = (): Promise<never> => {
    isDead = true
    dead.resolve(true)
    return new Promise(() => {})
  }
  const at = async (write: number) => (write === death?.write ? die() : undefined)
  const counted = death ? countWrites(own, death.moment === 'asked' ? { before: at } : { after: at }) : own
  // A dead process makes no call and gets no answer.
  const store: Store = new Proxy(counted, {
    get(target, name) {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...args: unknown[]) => {
        if (isDead) return die()
        const answer = await Reflect.apply(method, target, args)
        return isDead ? die() : answer
      }
    },
  })
  const workflows = createWorkflows((run, step) => !isDead && effect(run, step))
  const worker = new Worker({
    store,
    clock,
    random: () => 0.5,
    publish: notices.publish,
    findWorkflow: (id) => workflows.find((workflow) => workflow.id === id),
    filesFor: () => ({}) as never,
    routes: () => workflows.flatMap(planRoutes),
    guard: DEFAULT_POLICY,
    passCache: { fromSteps: 0 },
    slots: 4,
    drainMs: 1_000,
  })
  void worker.start()
  const done = awaitFound(notices, async () => {
    if (isDead) return null
    const runs = await own.listRuns({ limit: 100 })
    const isOver = runs.every((run) => run.finishedAt !== null)
    if (isOver) return false
    const soon = runs.flatMap(({ status, dueAt }) => (status === 'waiting' && dueAt !== null ? [dueAt] : []))
    const next = Math.min(...soon)
    // Short pauses pass at once. A wait of days is for an event.
    if (runs.every(({ status }) => status !== 'running' && status !== 'pending') && next < clock.now() + 60_000)
      clock.set(next)
    return null
  })
  const died = await Promise.race([dead.promise, done])
  // It may also die as it stops, when all runs are done.
  if (!died) await Promise.race([worker.stop(), dead.promise])
  await own.close()
  return { died, now: clock.now() }
}

/** False where the process lived to its end. */
function surviveDeath(database: DatabaseName, death: { moment: Moment; write: number }): Promise<boolean> {
  return inDatabase(database, (place) => inStore(place, (store) => dieOnce(store, place, death)))
}

async function dieOnce(store: Store, place: Place, death: { moment: Moment; write: number }): Promise<boolean> {
  const runId = await queueRun(store, 'evt_1', 'verbs')
  const effects: [string[], string[]] = [[], []]
  const hear = (heard: string[]) => (run: string, step: string) => void heard.push(`${run} ${step}`)
  const first = await live(await openPlace(place), { death, now: NOW, effect: hear(effects[0]) })
  const finished = await listFinished(store)
  await silenceWorkers(place)
  if (first.died) await live(await openPlace(place), { death: null, now: first.now, effect: hear(effects[1]) })

  const run = await store.findRun(runId)
  const output = JSON.parse(run?.output ?? 'null')
  expect(output).toEqual({
    paid: expect.stringMatching(/^(paid|unknown)$/),
    doubled: 42,
    answer: true,
    texts: [50_000, 100_000, 150_000],
  })
  expect(run).toMatchObject({ tags: { stage: 'ending' }, progress: { done: 3, total: 3 } })
  const schedules = await store.listSchedules({ limit: 100 })
  expect(schedules.map(({ workflow, plan }) => [workflow, plan]).sort()).toMatchObject([
    [null, { kind: 'once', at: LATER }],
    ['child', { kind: 'once', at: LATER }],
  ])
  const runs = await store.listRuns({ limit: 100 })
  expect(runs.map(({ workflow, status }) => `${workflow} ${status}`).sort()).toEqual([
    'child completed',
    'listener completed',
    'verbs completed',
    'victim canceled',
  ])
  const events = await store.listEvents({ limit: 100 })
  expect(events.map((event) => event.type).sort()).toEqual(
    ['file.created', 'verbs.answered', 'verbs.asked', 'verbs.ended', 'verbs.started'].sort(),
  )
  expect((await store.listMatchCursors()).cursors.filter((watched) => watched.isOpen)).toEqual([])
  // A step with `once` ran at most once, and no finished step ran again. The result is "unknown"
  // only if the first life cannot tell.
  const both = [...effects[0], ...effects[1]]
  const paid = both.filter((effect) => effect.endsWith(' pay')).length
  expect(paid).toBe(output.paid === 'paid' ? 1 : Math.min(paid, 1))
  expect(effects[1].filter((effect) => finished.includes(effect))).toEqual([])
  expect(new Set(both).size).toBeGreaterThanOrEqual(output.paid === 'paid' ? 5 : 4)
  return first.died
}

async function listFinished(store: Store): Promise<string[]> {
  const runs = await store.listRuns({ limit: 100 })
  const steps = await Promise.all(
    runs.map(async ({ id }) => (await store.listSteps(id)).map((step) => ({ id, ...step }))),
  )
  return steps.flat().flatMap(({ id, key, status }) => (status === 'completed' ? [`${id} ${key}`] : []))
}

test('every verb works on the threaded store', async () => {
  const store = openTestStore()
  const runId = await queueRun(store, 'evt_1', 'verbs')
  await live(openTestStore(store.folder, openThreadedStore), { death: null, now: NOW, effect: () => {} })
  expect(JSON.parse((await store.findRun(runId))?.output ?? 'null')).toMatchObject({
    paid: 'paid',
    doubled: 42,
    answer: true,
  })
  expect((await store.listRuns({ limit: 5, workflow: 'victim' })).map(({ status }) => status)).toEqual(['canceled'])
})

describe.each(DATABASES)('on %s', (database) => {
  test.each<Moment>(['asked', 'answered'])(
    'P5: every verb survives the death of its process at every write, once the store was %s',
    async (moment) => {
      // A life takes a second, so that each run of the suite tries some of the writes.
      const every = database === 'SQLite' ? 2 : 8
      const survive = async (write: number) => !(await surviveDeath(database, { moment, write }))
      expect(await dieAtEveryCall(survive, every)).toBeGreaterThan(40)
    },
    120_000,
  )
})
