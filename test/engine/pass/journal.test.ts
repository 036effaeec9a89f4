import { expect } from 'vitest'
import { Journal } from '../../../src/engine/pass/journal.ts'
import { checkpoint, NOW } from '../../support/fixtures.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

/** The journal of a new run, whose store has only what the test needs. */
function openJournal(store: object): Journal {
  return new Journal({
    store: store as never,
    lease: { runId: 'run_1', fence: 1 } as never,
    known: [],
    startedAt: NOW,
    tags: { take: () => null } as never,
    codeHash: null,
  })
}

test('a run of 10,000 steps is replayed with one read and no writes', async ({ engine }) => {
  const calls: string[] = []
  const store = new Proxy(engine.store, {
    get(target, name) {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        calls.push(String(name))
        return Reflect.apply(method, target, args)
      }
    },
  })
  const COUNT = 10_000
  let ran = 0
  let replayMs = 0
  await engine.start(
    [
      define('long', async ({ step }) => {
        const begunAt = process.threadCpuUsage()
        let sum = 0
        for (let n = 0; n < COUNT; n++) {
          sum += await step.run(
            ['add', n],
            () => {
              ran += 1
              return n
            },
            { effect: 'read' },
          )
        }
        const { user, system } = process.threadCpuUsage(begunAt)
        replayMs = (user + system) / 1_000
        await step.sleep('nap', '1m')
        return sum
      }),
    ],
    { store },
  )
  const parked = await engine.run('long')
  calls.length = 0
  const run = await engine.advance(parked.id, '1m')
  expect(run).toMatchObject({ status: 'completed', output: String((COUNT * (COUNT - 1)) / 2) })
  expect(ran).toBe(COUNT)
  expect(calls.filter((name) => name === 'listSteps')).toHaveLength(1)
  // The end of the sleep.
  expect(calls.filter((name) => name === 'saveCheckpoint')).toHaveLength(1)
  expect(calls).not.toContain('readOutput')
  // By hand 15 ms; the time of other programs does not count.
  expect(replayMs).toBeLessThan(1_000)
})

test('a step name that repeats in a loop without a key is reported once', async ({ engine }) => {
  await engine.serve('loop', async ({ step }) => {
    for (let n = 0; n < 150; n++) await step.run('copy', () => n, { effect: 'read' })
    for (let n = 0; n < 150; n++) await step.run(['keyed', n], () => n, { effect: 'read' })
    await step.sleep('nap', '1m')
  })
  const parked = await engine.run('loop')
  await engine.advance(parked.id, '1m')
  const warnings = engine.heard.filter((notice) => notice.kind === 'step.repeated')
  expect(warnings).toMatchObject([{ run: parked.id, step: 'copy', count: 100 }])
})

test('outcomes follow those that are on disk, also while deletes begin without a pause', async () => {
  const saves: (() => void)[] = []
  const journal = openJournal({
    saveCheckpoint: () => new Promise<void>((resolve) => saves.push(resolve)),
    noteSeen: () => new Promise(() => {}),
  })
  for (let n = 0; n < 64; n++) void journal.record(checkpoint(`a${n}`))
  const room = journal.room()
  void journal.noteSeen('b', { path: '/b', bytes: 1, modifiedAt: null, sha256: null })
  for (const save of saves) save()
  const later = new Promise((resolve) => setImmediate(resolve, 'later'))
  expect(await Promise.race([room, later])).not.toBe('later')
  expect(journal.room()).toBeNull()
})

test('nothing goes on after a delete could not note what it found', async () => {
  const journal = openJournal({ noteSeen: () => Promise.reject(new Error('the disk is gone')) })
  await expect(journal.noteSeen('a', { path: '/a', bytes: 1, modifiedAt: null, sha256: null })).rejects.toThrow(
    'disk is gone',
  )
  await expect(journal.barrier()).rejects.toThrow('disk is gone')
  expect(journal.hasFailed).toBe(true)
})

test('once the outcome of a run is decided, nothing more is recorded', () => {
  const written: string[] = []
  const journal = openJournal({
    saveCheckpoint: async (_: unknown, step: { key: string }) => void written.push(step.key),
  })
  void journal.record(checkpoint('a'))
  journal.close()
  void journal.record(checkpoint('b'))
  expect(written).toEqual(['a'])
  expect(journal.finished).toBe(1)
})
