import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { imagineRun } from '../../../src/app/preview/plan-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { RunContext } from '../../../src/author/index.ts'
import { callable } from '../../../src/author/trigger.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { completed } from '../../../src/engine/preview/compose-answers.ts'
import { previewPass } from '../../../src/engine/preview/preview-pass.ts'
import { previewRun } from '../../../src/engine/preview/preview-run.ts'
import type { AnswerStep } from '../../../src/engine/preview/previewed.ts'
import { eventBody } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { openTestStore } from '../../support/test-store.ts'
import { filesOf } from '../support/files-in-runs.ts'
import { previewParts, readRecording, replayRecorded } from '../support/previews.ts'

const entry = {
  service: 'storage_a',
  id: 'fil_1',
  name: 'a.tmp',
  type: 'file',
  mimeType: null,
  size: 7,
  path: '/a.tmp',
  createdAt: null,
  modifiedAt: '2026-01-01T00:00:00.000Z',
} as const
const filesFor = filesOf({
  get: async () => entry,
  find: async () => entry,
  delete: async () => ({ outcome: 'deleted', proof: 'reply' }),
})
const done: string[] = []
const act = (name: string) => () => {
  done.push(name)
  return name
}

const define = (run: (context: RunContext) => Promise<unknown>) => defineWorkflow({ id: 'tidy', on: '*', run })

const tidy = define(async ({ step, files, now, uuid }) => {
  const file = await files.get({ service: 'storage_a', id: 'fil_1' })
  await step.sleep('grace', '15m')
  const { outcome } = await files.delete(file, { expect: file })
  const id = uuid()
  await step.run('note', act('note'), { target: 'notes', input: { id } })
  await step.send('tell', 'tidy.done', { id })
  return { outcome, at: now(), id }
})

/** A completed run of `workflow`, which sleeps once. */
async function record(workflow = tidy) {
  const engine = createTestEngine()
  await engine.start([workflow], { filesFor })
  const { id } = await engine.run('tidy')
  const run = await engine.advance(id, '15m')
  expect(run.status).toBe('completed')
  done.length = 0
  return { store: engine.store, run }
}

test('the code of a run, previewed on its journal, ends as it did and does nothing', async () => {
  const { store, run } = await record()
  const before = await store.readRecordings([run.id])
  const previewed = await replayRecorded(store, run.id, tidy)
  expect(previewed.end).toEqual({ kind: 'completed', output: run.output })
  expect(previewed.effects).toMatchObject([
    { class: 'delete', operation: 'files.delete', target: 'storage_a:fil_1', source: 'recorded', outcome: 'deleted' },
    { class: 'write', operation: 'note', target: 'notes', source: 'recorded' },
    { class: 'send', operation: 'tell', target: 'tidy.done', source: 'recorded' },
  ])
  expect(previewed.effects[0]).toMatchObject({
    asked: { path: '/a.tmp', bytes: 7 },
    expect: { path: '/a.tmp', bytes: 7 },
  })
  expect(done).toEqual([])
  expect(await store.readRecordings([run.id])).toEqual(before)
})

test('edited code gets the recorded answers, and a step without one ends the preview', async () => {
  const { store, run } = await record()
  const edited = define(async ({ step, files }) => {
    const file = await files.get({ service: 'storage_a', id: 'fil_1' })
    await files.delete(file)
    const ticket = await step.run('open ticket', act('ticket'))
    await step.run('never reached', act(String(ticket)))
  })
  const previewed = await replayRecorded(store, run.id, edited)
  expect(previewed.end).toMatchObject({
    kind: 'open',
    step: 'open ticket',
    reason: 'its result is not known without doing it',
  })
  expect(previewed.effects).toMatchObject([
    { operation: 'files.delete', expect: null, source: 'recorded' },
    { operation: 'open ticket', source: 'none' },
  ])
  expect(done).toEqual([])
})

test('a read that was not recorded is not made', async () => {
  const { store, run } = await record()
  const previewed = await replayRecorded(
    store,
    run.id,
    define(({ step }) => step.run('look', act('look'), { effect: 'read' })),
  )
  expect(previewed.end).toMatchObject({ kind: 'open', step: 'look', reason: 'no recorded answer to this read' })
  expect(done).toEqual([])
})

/** Expects that a sleep of five minutes wins the race of a run, and of its preview. */
async function expectNap(race: AnyWorkflow) {
  const engine = createTestEngine()
  await engine.start([race])
  const { id } = await engine.run('tidy')
  const run = await engine.advance(id, '5m')
  expect(run.output).toBe('"nap"')
  expect((await replayRecorded(engine.store, id, race)).end).toEqual({ kind: 'completed', output: '"nap"' })
}

test('recorded outcomes come in the order of the run, so that a race has the same winner', async () => {
  const race = define(({ step }) => {
    let tries = 0
    const slow = step.run(
      'slow',
      () => {
        if (tries++ === 0) throw new Error('not yet')
        return 'slow'
      },
      { effect: 'read', retry: { min: '20m', max: '20m' } },
    )
    return Promise.race([slow, step.sleep('nap', '5m').then(() => 'nap')])
  })
  await expectNap(race)
})

test('a wait that has lost a race does not end the preview', async () => {
  const race = define(async ({ step }) => {
    const never = step.waitFor('never', { on: 'never', timeout: '1d' })
    const winner = await Promise.race([never, step.sleep('nap', '5m').then(() => 'nap')])
    return step.run('tell', () => winner)
  })
  await expectNap(race)
})

test('a wait that nothing answers holds until an answer that takes time has come', async () => {
  const workflow = define(({ step }) => {
    const never = step.waitFor('never', { on: 'never', timeout: '1d' })
    return Promise.race([never, step.run('slow', act('slow')).then((slow) => step.run('next', act(slow)))])
  })
  const answerStep: AnswerStep = async ({ kind, key }) => {
    if (kind !== 'run') return null
    for (let n = 0; n < 50; n++) await turn()
    return completed('recorded', JSON.stringify(key), 0)
  }
  const at = { createdAt: 0, receivedAt: 0, stream: 0, seq: 1, origin: 'webhook' } as const
  const event = { ...at, id: 'evt_1', account: 'default', type: 'go', body: eventBody('evt_1') }
  const claim = imagineRun(event, 'tidy', 0)
  const { end } = await previewPass(previewParts(openTestStore()), { claim, workflow, answersFor: () => answerStep })
  expect(end).toEqual({ kind: 'completed', output: '"next"' })
})

test('a failure of a step is given as it was, with its attempts', async () => {
  const failing = define(async ({ step }) => {
    await step.sleep('nap', '15m')
    try {
      await step.run('pay', () => Promise.reject(new TypeError('no money')), { retry: { attempts: 1 } })
    } catch (error) {
      const { message, attempts } = error as Error & { attempts?: number }
      return { message, attempts }
    }
  })
  const { store, run } = await record(failing)
  expect((await replayRecorded(store, run.id, failing)).end).toEqual({ kind: 'completed', output: run.output })
})

test('a new sleep passes at once, and a run of another input is previewed like one of an event', async () => {
  const nap = defineWorkflow({
    id: 'tidy',
    on: callable(z.object({ n: z.number() })),
    run: async ({ input, step, now }) => {
      const from = now()
      await step.sleep('new', '3d')
      return { n: input.n, ms: now() - from }
    },
  })
  const engine = createTestEngine()
  const parent = defineWorkflow({ id: 'parent', on: '*', run: ({ step }) => step.invoke('call', nap, { n: 4 }) })
  await engine.start([parent, nap])
  const { id } = await engine.run('parent')
  const child = (await engine.store.listRuns({ limit: 9 })).find(({ parentRun }) => parentRun === id)
  const { end } = await replayRecorded(engine.store, child?.id ?? '', nap)
  expect(end).toEqual({ kind: 'completed', output: JSON.stringify({ n: 4, ms: 3 * 86_400_000 }) })
  const previewed = await replayRecorded(engine.store, id, parent)
  expect(previewed.end).toMatchObject({ kind: 'open', step: 'call', reason: 'no run answers it' })
  expect(previewed.effects).toMatchObject([{ class: 'invoke', target: 'tidy', body: '{"n":4}' }])
})

test('a `dry` result stands in for a step that no recording answers, also in a map', async () => {
  const { store, run } = await record()
  const edited = define(async ({ step }) => {
    const ticket = await step.run('open ticket', () => act('ticket')(), { dry: () => 'T-1' })
    const sent = await step.map('mail', ['ann', 'bob'], String, (to) => act(to)(), { dry: async (to) => `to ${to}` })
    return { ticket, sent }
  })
  const previewed = await replayRecorded(store, run.id, edited)
  expect(previewed.end).toEqual({ kind: 'completed', output: '{"ticket":"T-1","sent":["to ann","to bob"]}' })
  expect(previewed.effects.map(({ source }) => source)).toEqual(['declared', 'declared', 'declared'])
  expect(done).toEqual([])
})

test('a `dry` that throws ends the preview, and a recorded result comes before it', async () => {
  const { store, run } = await record()
  const broken = define(async ({ step }) => {
    await step.run('note', act('note'), { target: 'notes', dry: () => 'not this one' })
    await step.run('new', () => 'new', { dry: () => JSON.parse('no') })
  })
  const { end, effects } = await replayRecorded(store, run.id, broken)
  expect(effects[0]).toMatchObject({ step: 'note', source: 'recorded' })
  expect(end).toMatchObject({ kind: 'open', step: 'new', reason: expect.stringContaining('it cannot be answered') })
})

test('a run never calls `dry`', async () => {
  const engine = createTestEngine()
  const real = define(({ step }) => step.run('a', () => 'real', { dry: () => 'dry' }))
  await engine.start([real])
  expect((await engine.run('tidy')).output).toBe('"real"')
})

test.each([
  ['that waits for longer than a preview may', {}, /^it did not end within 60 s/],
  [
    'with a shorter limit of its own',
    { timeout: '10s' },
    /^next attempt of step "ask": Step "ask" did not finish within 10000 ms/,
  ],
] as const)('a read %s ends its preview there, by real time', async (_, options, reason) => {
  const begun = Promise.withResolvers<AbortSignal>()
  const at = { createdAt: 0, receivedAt: 0, stream: 0, seq: 1 }
  const body = eventBody('evt_1', 'file.created')
  const event = { ...at, id: 'evt_1', account: 'default', type: 'file.created', origin: 'webhook', body } as const
  const workflow = define(({ step }) =>
    step.run(
      'ask',
      ({ signal }) => {
        begun.resolve(signal)
        return new Promise(() => {})
      },
      { ...options, effect: 'read' },
    ),
  )
  const clock = new ManualClock()
  let atWork = 0
  const begin = () => {
    atWork += 1
    return () => {
      atWork -= 1
    }
  }
  const live = { clock, longestMs: 60_000, begin }
  const previewed = previewPass(
    { ...previewParts(openTestStore()), live },
    { claim: imagineRun(event, 'tidy', 0), workflow, answersFor: () => () => ({ source: 'live', outcome: null }) },
  )
  const signal = await begun.promise
  expect([atWork, signal.aborted]).toEqual([1, false])
  clock.advance('1m')
  expect((await previewed).end).toEqual({ kind: 'open', step: 'ask', reason: expect.stringMatching(reason) })
  expect([atWork, signal.aborted]).toEqual([0, true])
})

test('a result of another run brings along no callback URL that anybody could use', async () => {
  const output = JSON.stringify(`https://upshot.example.com/callbacks/${'0'.repeat(26)}${'1'.repeat(32)}`)
  const parts = { ...previewParts(openTestStore()), borrow: async () => ({ output, run: 'run_other' }) }
  const at = { createdAt: 0, receivedAt: 0, stream: 0, seq: 1, origin: 'webhook' } as const
  const event = { ...at, id: 'evt_1', account: 'default', type: 'file.created', body: eventBody('evt_1') }
  const previewed = await previewRun(
    parts,
    define(({ step }) => step.run('order', act('order'))),
    { claim: imagineRun(event, 'tidy', 0), steps: [] },
    { readsLive: true, plans: { use: [], borrows: true } },
  )
  expect(previewed.end).toEqual({ kind: 'completed', output: `"https://callbacks.invalid/hok_${'0'.repeat(26)}"` })
})

const mirror = defineWorkflow({ id: 'mirror', on: callable(z.object({ folder: z.string() })), run: () => null })
const plans = (cron: string) =>
  define(async ({ step }) => {
    await step.schedule('acme', { workflow: mirror, cron, input: { folder: '/acme' } })
    await step.unschedule('gone')
    await step.sleep('nap', '15m')
    return 'planned'
  })

test('a schedule is replayed as it was made, a new one is told and not made', async () => {
  const { store, run } = await record(plans('0 3 * * *'))
  const body = (cron: string) =>
    expect.stringMatching(JSON.stringify({ expression: cron }).slice(1, -1).replaceAll('*', '\\*'))
  const again = await replayRecorded(store, run.id, plans('0 3 * * *'))
  expect(again.end).toEqual({ kind: 'completed', output: '"planned"' })
  expect(again.effects).toMatchObject([
    { class: 'write', target: 'acme', body: body('0 3 * * *'), source: 'recorded' },
    { class: 'write', target: 'gone', source: 'recorded' },
  ])
  const before = await store.listSchedules({ limit: 9 })
  const other = await replayRecorded(store, run.id, plans('0 4 * * *'))
  expect(other.effects).toMatchObject([{ target: 'acme', body: body('0 4 * * *') }, { target: 'gone' }])
  const { claim } = await readRecording(store, run.id)
  const planned = await previewRun(previewParts(store), plans('0 5 * * *'), { claim, steps: [] }, { readsLive: false })
  expect(planned.effects[0]).toMatchObject({ class: 'write', target: 'acme', body: body('0 5 * * *') })
  expect(planned.end).toEqual({ kind: 'completed', output: '"planned"' })
  expect(await store.listSchedules({ limit: 9 })).toEqual(before)
})

test.each([{}, { journalAt: 0 }])('code that awaits what never comes fails in its preview: %j', async (rules) => {
  const nap = async ({ step }: RunContext) => step.sleep('nap', '15m')
  const { store, run } = await record(define(nap))
  const stuck = define(async (context) => {
    await nap(context)
    await new Promise(() => {})
  })
  const parts = { ...previewParts(store), stillMs: 100 }
  const { end } = await previewRun(parts, stuck, await readRecording(store, run.id), { readsLive: false, ...rules })
  const message = 'Nothing moves: the code awaits something outside its steps, since step "nap" ended.'
  expect(end).toEqual({ kind: 'failed', error: { name: 'Error', message } })
})
