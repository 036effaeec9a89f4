import { expect, test } from 'vitest'
import type { Notice } from '../../src/core/notices.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'

const queued = (count: number) => ({ kind: 'run.queued', count }) as const

test('a listener that has unsubscribed, once or twice, receives nothing', () => {
  const bus = createNoticeBus()
  const heard: Notice[] = []
  const unsubscribe = bus.subscribe('*', (notice) => heard.push(notice))
  unsubscribe()
  unsubscribe()
  bus.publish(queued(1))
  expect(heard).toEqual([])
})

test('a listener that throws disturbs neither publisher nor listeners, and a fault is published', () => {
  const bus = createNoticeBus()
  const heard: Notice[] = []
  bus.subscribe('run.queued', () => {
    throw new TypeError('broken')
  })
  bus.subscribe('*', (notice) => heard.push(notice))
  expect(() => bus.publish(queued(1))).not.toThrow()
  expect(heard).toMatchObject([
    { kind: 'fault', where: 'listener of run.queued', error: { name: 'TypeError', message: 'broken' } },
    queued(1),
  ])
})

test('a listener that throws on every notice receives each of its faults once', () => {
  const bus = createNoticeBus()
  const heard: string[] = []
  bus.subscribe('*', ({ kind }) => {
    heard.push(kind)
    throw new Error('broken')
  })
  bus.publish(queued(1))
  bus.publish({ kind: 'app.stopped' })
  expect(heard).toEqual(['run.queued', 'fault', 'app.stopped', 'fault'])
})

test('a listener may throw any value', () => {
  const bus = createNoticeBus()
  const faults: Notice[] = []
  bus.subscribe('fault', (notice) => faults.push(notice))
  bus.subscribe('run.queued', () => {
    throw Object.create(null)
  })
  bus.publish(queued(1))
  expect(faults).toHaveLength(1)
})

test('`once` resolves with the next notice of its kind that the predicate accepts', async () => {
  const bus = createNoticeBus()
  const waited = bus.once('run.queued', ({ count }) => count > 1)
  for (const count of [1, 2, 3]) bus.publish(queued(count))
  expect(await waited).toEqual(queued(2))
})

test("`once` rejects with the signal's reason, before or while it waits", async () => {
  const bus = createNoticeBus()
  const controller = new AbortController()
  const waited = bus.once('run.queued', undefined, controller.signal)
  controller.abort(new Error('too late'))
  await expect(waited).rejects.toThrow('too late')
  await expect(bus.once('run.queued', undefined, controller.signal)).rejects.toThrow('too late')
})

test('`once` leaves no listener behind, however it ends', async () => {
  const bus = createNoticeBus()
  let asked = 0
  const count = () => {
    asked++
    return true
  }
  const controller = new AbortController()
  const [resolved, aborted] = [bus.once('run.queued', count), bus.once('app.stopped', count, controller.signal)]
  controller.abort(new Error('stop'))
  bus.publish(queued(1))
  await Promise.allSettled([resolved, aborted])
  bus.publish(queued(2))
  bus.publish({ kind: 'app.stopped' })
  expect(asked).toBe(1)
})

test('`once` rejects with the error of its predicate', async () => {
  const bus = createNoticeBus()
  const waited = bus.once('run.queued', () => {
    throw new Error('broken predicate')
  })
  bus.publish(queued(1))
  await expect(waited).rejects.toThrow('broken predicate')
})
