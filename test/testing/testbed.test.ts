import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { cron, defineEvent, defineWorkflow, z } from '../../src/author/index.ts'
import { testbed } from '../../src/testing/index.ts'

const greet = defineWorkflow({
  id: 'greet',
  on: 'greeting.asked',
  async run({ event, step, log }) {
    log.info('asked', { by: event.data.name })
    return step.run('greet', () => `Hello ${event.data.name}`)
  },
})

const patient = defineWorkflow({
  id: 'patient',
  on: 'nap.asked',
  async run({ event, step, now }) {
    await step.sleep('nap', String(event.data.length))
    return step.run('wake', () => new Date(now()).toISOString(), { effect: 'read' })
  },
})

describe('an event', () => {
  test('is followed up before send returns', async () => {
    await using t = await testbed({ workflows: [greet] })
    const { event, runs } = await t.send('greeting.asked', { name: 'Ada' })
    expect(event).toMatchObject({ id: 'evt_test1', created: '2026-01-01T00:00:00.000Z' })
    expect(runs).toMatchObject([{ workflow: 'greet', status: 'completed', output: 'Hello Ada', error: null }])
    expect(t.run(greet).steps()).toEqual([
      {
        key: 'greet',
        effect: 'write',
        status: 'completed',
        output: 'Hello Ada',
        error: null,
        attempt: 1,
        target: null,
      },
    ])
    expect(t.run('greet').logs()).toEqual([{ level: 'info', message: 'asked', facts: { by: 'Ada' } }])
  })

  test('is taken as the service told it, and starts its runs once', async () => {
    await using t = await testbed({ workflows: [greet] })
    const event = { id: 'evt_1', type: 'greeting.asked', created: '2025-12-31T00:00:00Z', data: { name: 'Ada' } }
    expect((await t.send(event)).runs).toHaveLength(1)
    expect((await t.send(event)).runs).toEqual([])
    expect(t.runs()).toHaveLength(1)
  })

  test('starts nothing that does not run on it', async () => {
    await using t = await testbed({ workflows: [greet] })
    expect((await t.send('greeting.refused', {})).runs).toEqual([])
    expect(() => t.run(greet)).toThrow('"greet" has had no run yet')
  })

  test('is read with its definition, which says what may be sent', async () => {
    const sized = defineEvent('file.sized', { data: z.object({ size: z.string().transform(Number) }) })
    const double = defineWorkflow({ id: 'double', on: sized, run: ({ event }) => event.data.size * 2 })
    await using t = await testbed({ workflows: [double] })
    await t.send(sized, { size: '21' })
    expect(t.run(double).output).toBe(42)
    // @ts-expect-error: the service sends text
    await t.send(sized, { size: 21 })
    expect(t.run(double)).toMatchObject({ status: 'waiting', reason: expect.stringContaining('data.size') })
    expect(t.runs(double)).toHaveLength(2)
  })
})

describe('the clock', () => {
  test('stands still until it is moved, and stops at every moment on its way', async () => {
    await using t = await testbed({ workflows: [patient], now: '2026-03-01T12:00:00Z' })
    const stops: string[] = []
    t.notices.subscribe('step.completed', () => stops.push(new Date(t.now()).toISOString()))
    for (const length of ['40m', '5m', '1d']) await t.send('nap.asked', { length })
    expect(t.runs(patient).map((run) => [run.status, run.dueAt])).toEqual([
      ['waiting', Date.parse('2026-03-01T12:40:00Z')],
      ['waiting', Date.parse('2026-03-01T12:05:00Z')],
      ['waiting', Date.parse('2026-03-02T12:00:00Z')],
    ])
    await t.advance('1h')
    expect(stops).toEqual(['2026-03-01T12:05:00.000Z', '2026-03-01T12:40:00.000Z'])
    expect(t.runs(patient).map((run) => run.output)).toEqual([stops[1], stops[0], null])
    expect(t.now()).toBe(Date.parse('2026-03-01T13:00:00Z'))
  })

  test('takes a year without stopping where nothing happens', async () => {
    await using t = await testbed({ workflows: [patient] })
    await t.send('nap.asked', { length: '364d' })
    const heard: string[] = []
    t.notices.subscribe('*', ({ kind }) => void heard.push(kind))
    await t.advance('365d')
    expect(heard).toEqual(['step.completed', 'run.completed'])
  })

  test('brings every attempt of a failing step, at the same moments for the same seed', async () => {
    const flaky = defineWorkflow({
      id: 'flaky',
      on: 'try',
      retry: { attempts: 4, min: '10s', max: '1m' },
      run: ({ step, now }) =>
        step.run('try', ({ attempt }) => {
          if (attempt < 4) throw new Error('not yet')
          return now()
        }),
    })
    const play = async (seed: number) => {
      await using t = await testbed({ workflows: [flaky], seed })
      const moments: (number | null)[] = []
      t.notices.subscribe('step.failed', ({ retryAt }) => moments.push(retryAt))
      await t.send('try')
      await t.advance('10m')
      expect(t.run(flaky)).toMatchObject({ status: 'completed' })
      expect(t.run(flaky).steps()).toMatchObject([{ attempt: 4 }])
      return moments
    }
    expect(await play(7)).toEqual(await play(7))
    expect(await play(7)).not.toEqual(await play(8))
  })

  test('refuses a moment that is none', async () => {
    await expect(testbed({ workflows: [], now: 'tomorrow' })).rejects.toThrow('"tomorrow" is no moment')
  })
})

describe('a cron workflow', () => {
  const nightly = defineWorkflow({
    id: 'nightly',
    on: cron('0 3 * * *', { timezone: 'Europe/Berlin' }),
    run: ({ tick }) => tick.scheduledFor.toISOString(),
  })

  test('ticks as time passes', async () => {
    await using t = await testbed({ workflows: [nightly], now: '2026-03-27T12:00:00Z' })
    await t.advance('3d')
    // Clocks go forward on the 29th.
    expect(t.runs(nightly).map((run) => run.output)).toEqual([
      '2026-03-28T02:00:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T01:00:00.000Z',
    ])
  })

  test('ticks by hand, once for each moment', async () => {
    await using t = await testbed({ workflows: [nightly, greet] })
    const run = await t.tick('nightly', '2025-12-24T02:00:00Z')
    expect(run).toMatchObject({ status: 'completed', output: '2025-12-24T02:00:00.000Z' })
    await expect(t.tick(nightly, '2025-12-24T02:00:00Z')).rejects.toThrow('has had its run already')
    await expect(t.tick(greet)).rejects.toThrow('"greet" does not run on a cron line')
  })
})

describe('the service', () => {
  const clean = defineWorkflow({
    id: 'clean',
    on: 'folder.ready',
    async run({ files, step }) {
      const { items } = await files.snapshot({ service: 'storage_b', path: '/archive', recursive: true })
      for (const item of items.filter(({ name }) => name.endsWith('.bak'))) await files.delete(item, { expect: item })
      await step.run('tell', () => 'told')
      return items.length
    },
  })

  test('is the sandbox: what a test puts there, a workflow finds', async () => {
    await using t = await testbed({ workflows: [clean] })
    const storage = t.storage('storage_b')
    const a = await storage.put('/archive/a.bak', 'x')
    await storage.put('/archive/b.txt', 'y')
    await storage.put('/archived/c.bak', 'z')
    await t.send('folder.ready')
    expect(t.run(clean)).toMatchObject({ status: 'completed', output: 2 })
    expect(t.effects()).toMatchObject([
      { workflow: 'clean', effect: 'delete', target: `storage_b:${a.id}`, output: { outcome: 'deleted' } },
      { workflow: 'clean', effect: 'write', key: 'tell' },
    ])
    expect((await storage.list('/archive')).map(({ path }) => path)).toEqual(['/archive/b.txt'])
    expect((await storage.get('/archived/c.bak')).toString()).toBe('z')
    await storage.remove('/archived/c.bak')
    await expect(storage.get('/archived/c.bak')).rejects.toThrow('There is no file')
  })

  test('keeps the time of the testbed, and what it tells can be sent', async () => {
    const echo = defineWorkflow({ id: 'echo', on: 'file.created', run: ({ event }) => event.created })
    await using t = await testbed({ workflows: [echo], now: '2026-05-01T00:00:00Z' })
    expect(() => t.told('file.created')).toThrow('The sandbox has told of no file.created')
    await t.storage('storage_a').put('/early.txt', '')
    await t.advance('90m')
    await t.storage('storage_a').put('/late.txt', '')
    await t.send(t.told('file.created'))
    expect(t.run(echo).output).toBe('2026-05-01T01:30:00.000Z')
  })

  test('may fail: pauses within a call pass by themselves, on the clock of everybody', async () => {
    await using t = await testbed({ workflows: [clean] })
    await t.storage('storage_b').put('/archive/a.bak', 'x')
    await t.faults.add({ on: 'files.list', status: 503, times: 2 })
    await t.send('folder.ready')
    expect(t.run(clean).status).toBe('completed')
    expect(t.now()).toBeGreaterThan(Date.parse('2026-01-01T00:00:00Z'))
    expect((await t.sandbox()).clock.now()).toBe(t.now())
    await t.faults.clear()
    await t.storage('storage_b').put('/archive/b.bak', 'x')
    const before = t.now()
    await t.send('folder.ready')
    expect(t.now()).toBe(before)
  })

  test('is not hurried: time stands still while a call is under way and another one pauses', async () => {
    const both = defineWorkflow({
      id: 'both',
      on: 'go',
      run: async ({ event, files }) => {
        const file = { service: 'storage_a' as const, id: String(event.data.id) }
        await Promise.all([files.get(file), files.list({ service: 'storage_a' })])
      },
    })
    await using t = await testbed({ workflows: [both] })
    const { id } = await t.storage('storage_a').put('/slow.txt', '')
    await t.faults.add({ on: 'files.get', latencyMs: 300, times: 1 })
    await t.faults.add({ on: 'files.list', status: 503, times: 1 })
    const before = t.now()
    const got = t.notices.once('step.completed', ({ step }) => step.startsWith('files.get')).then(() => t.now())
    await t.send('go', { id })
    expect(await got).toBe(before)
    expect(t.now()).toBeGreaterThan(before)
  })

  test('may limit: calls side by side wait for it without being rushed', async () => {
    const many = defineWorkflow({
      id: 'many',
      on: 'go',
      run: async ({ files }) => {
        const pages = Array.from({ length: 40 }, (_, index) => files.list({ service: 'storage_a', page: index + 1 }))
        return (await Promise.all(pages)).length
      },
    })
    await using t = await testbed({ workflows: [many], sandbox: { plan: 'free' } })
    await t.send('go')
    await t.advance('10m')
    expect(t.run(many)).toMatchObject({ status: 'completed', output: 40 })
  })
})

describe('the front door', () => {
  const body = { id: 'evt_9', type: 'greeting.asked', created: '2026-01-01T00:00:00Z', data: { name: 'Eve' } }

  test('takes what is signed and follows it up', async () => {
    await using t = await testbed({ workflows: [greet] })
    expect(await t.deliver(body)).toEqual({ status: 200, verdict: 'accepted', runs: 1 })
    expect(await t.deliver(JSON.stringify(body))).toEqual({ status: 200, verdict: 'duplicate', runs: 0 })
    expect(t.runs(greet)).toMatchObject([{ output: 'Hello Eve' }])
  })

  test.each([
    ['a signature of somebody else', { signature: 'ab'.repeat(32) }, 401],
    ['no signature', { headers: { 'X-Service-Signature': null } }, 401],
    ['another kind of content', { headers: { 'Content-Type': 'text/plain' } }, 415],
  ])('refuses %s', async (_, options, status) => {
    await using t = await testbed({ workflows: [greet] })
    expect(await t.deliver(body, options)).toMatchObject({ status, runs: 0 })
    expect(t.runs()).toEqual([])
  })
})

describe('the engine', () => {
  test('loses its memory in a restart, and no finished step', async () => {
    const done: string[] = []
    const twoSteps = defineWorkflow({
      id: 'two-steps',
      on: 'go',
      async run({ step }) {
        await step.run('first', () => void done.push('first'))
        await step.sleep('pause', '1h')
        await step.run('second', () => void done.push('second'))
      },
    })
    await using t = await testbed({ workflows: [twoSteps] })
    await t.send('go')
    await t.restart()
    expect(done).toEqual(['first'])
    await t.advance('1h')
    expect(done).toEqual(['first', 'second'])
    expect(t.effects().map(({ key }) => key)).toEqual(['first', 'second'])
  })

  test('runs what a test puts in the place of a step, with all that is around it', async () => {
    await using t = await testbed({
      workflows: [greet],
      steps: { greet: { greet: ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('busy')) : 'Moin') } },
    })
    await t.send('greeting.asked', { name: 'Ada' })
    expect(t.run(greet)).toMatchObject({ status: 'waiting', reason: 'next attempt of step "greet": busy' })
    await t.advance('1m')
    expect(t.run(greet)).toMatchObject({ status: 'completed', output: 'Moin' })
  })

  test('says which run hangs and where', async () => {
    const hanging = defineWorkflow({
      id: 'hanging',
      on: 'go',
      async run({ step }) {
        await step.run('fine', () => 1)
        await step.run('stuck', () => new Promise(() => {}))
      },
    })
    await using t = await testbed({ workflows: [hanging], patienceMs: 200 })
    await expect(t.send('go')).rejects.toThrow(/does not come to rest: hanging \(run_\w+\), behind its step "fine"/)
  })

  test('follows a run that failed with its onFailure, whose steps can be replaced, too', async () => {
    const failing = defineWorkflow({
      id: 'failing',
      on: 'go',
      retry: { attempts: 1 },
      run: ({ step }) => step.run('try', () => Promise.reject(new Error('no'))),
      onFailure: ({ step }) => step.run('alert', () => 'alerted'),
    })
    await using t = await testbed({ workflows: [failing], steps: { failing: { alert: () => 'pretended' } } })
    await t.send('go')
    expect(t.run(failing)).toMatchObject({ handler: 'run', status: 'failed' })
    expect(t.runs(failing)[1]).toMatchObject({ handler: 'onFailure', status: 'completed', output: 'pretended' })
  })

  test('does not keep to itself what it could only report', async () => {
    const sound = defineWorkflow({ id: 'broken', on: 'go', run: () => null })
    const broken = Object.defineProperty({ ...sound }, 'retry', {
      enumerable: true,
      get() {
        throw new Error('no such thing')
      },
    })
    await using t = await testbed({ workflows: [broken] })
    await expect(t.send('go')).rejects.toThrow(/The engine reported a fault in run run_\w+: .*no such thing/)
  })

  test('says which run goes round in circles', async () => {
    const circling = defineWorkflow({
      id: 'circling',
      on: 'go',
      retry: { attempts: 100_000, min: 0, max: 0 },
      run: ({ step }) => step.run('again', () => Promise.reject(new Error('again'))),
    })
    await using t = await testbed({ workflows: [circling] })
    await expect(t.send('go')).rejects.toThrow(/circling .* 1000 times at the same moment/)
  })
})

describe('a mistake in a test', () => {
  test.each<[string, (t: Awaited<ReturnType<typeof testbed>>) => unknown, string]>([
    ['a workflow that is not there', (t) => t.runs('great'), 'no workflow "great". It has: greet.'],
    ['a tick of one', (t) => t.tick('great'), 'no workflow "great"'],
    ['a run of one that had none', (t) => t.run('greet'), 'no run yet'],
    ['a length of time that is none', (t) => t.advance('soon'), '"soon" is not a duration'],
  ])('is told in words: %s', async (_, mistake, message) => {
    await using t = await testbed({ workflows: [greet] })
    await expect((async () => mistake(t))()).rejects.toThrow(message)
  })

  test('is told in words: the same id twice, steps of an unknown workflow, and a testbed that is closed', async () => {
    await expect(testbed({ workflows: [greet, { ...greet }] })).rejects.toThrow('the same id')
    await expect(testbed({ workflows: [greet], steps: { great: {} } })).rejects.toThrow('no such workflow')
    const t = await testbed({ workflows: [greet] })
    await t[Symbol.asyncDispose]()
    await t[Symbol.asyncDispose]()
    await expect(t.send('greeting.asked')).rejects.toThrow('is closed')
  })
})

test('keeps its store in memory: no lock of a worker is left in the folder it is used in', async () => {
  await using t = await testbed({ workflows: [greet] })
  await t.send('greeting.asked', { name: 'Ada' })
  expect(existsSync('workers')).toBe(false)
})

test('needs no test framework, and lets the process end by itself', { timeout: 60_000 }, async () => {
  const script = `
    import assert from 'node:assert/strict'
    import { test } from 'node:test'
    import { defineWorkflow } from 'upshot'
    import { testbed } from 'upshot/testing'
    const workflow = defineWorkflow({ id: 'w', on: 'go', run: ({ files }) => files.snapshot({ service: 'storage_a' }) })
    test('follows up', async () => {
      await using t = await testbed({ workflows: [workflow] })
      await t.storage('storage_a').put('/a', '')
      await t.deliver({ id: 'evt_1', type: 'go', created: '2026-01-01T00:00:00Z', data: {} })
      assert.equal(t.run(workflow).output?.items.length, 1)
    })`
  const args = ['--test-reporter=tap', '--input-type=module-typescript', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toContain('# pass 1')
})
