import { describe, expect, it } from 'vitest'
import type { Notice } from '../../src/core/notices.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'

const queued = (count: number) => ({ kind: 'run.queued', count }) as const

describe('a listener', () => {
  it('hears its kind, or all, at once and in the order of subscription', () => {
    const bus = createNoticeBus()
    const heard: string[] = []
    bus.subscribe('*', ({ kind }) => heard.push(`first ${kind}`))
    bus.subscribe('run.queued', ({ count }) => heard.push(`second ${count}`))
    bus.subscribe('app.stopped', () => heard.push('never'))
    bus.publish(queued(3))
    expect(heard).toEqual(['first run.queued', 'second 3'])
  })

  it('hears nothing after it has unsubscribed, which it may do twice', () => {
    const bus = createNoticeBus()
    const heard: Notice[] = []
    const unsubscribe = bus.subscribe('*', (notice) => heard.push(notice))
    unsubscribe()
    unsubscribe()
    bus.publish(queued(1))
    expect(heard).toEqual([])
  })

  it('hears nothing more of a notice during which another has ended its subscription', () => {
    const bus = createNoticeBus()
    const heard: string[] = []
    bus.subscribe('*', () => endLater())
    const endLater = bus.subscribe('*', () => heard.push('later'))
    bus.publish(queued(1))
    expect(heard).toEqual([])
  })

  it('that is added while a notice is told hears the next one', () => {
    const bus = createNoticeBus()
    const heard: number[] = []
    const stop = bus.subscribe('run.queued', () => {
      stop()
      bus.subscribe('run.queued', ({ count }) => heard.push(count))
    })
    bus.publish(queued(1))
    bus.publish(queued(2))
    expect(heard).toEqual([2])
  })
})

describe('a listener that throws', () => {
  it('hurts neither the publisher nor the others, and comes out as a fault', () => {
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

  it('on every notice is told of its fault once each, and not for ever', () => {
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

  it('may throw anything', () => {
    const bus = createNoticeBus()
    const faults: Notice[] = []
    bus.subscribe('fault', (notice) => faults.push(notice))
    bus.subscribe('run.queued', () => {
      throw Object.create(null)
    })
    bus.publish(queued(1))
    expect(faults).toHaveLength(1)
  })
})

describe('once', () => {
  it('gives the next notice of its kind that the predicate accepts', async () => {
    const bus = createNoticeBus()
    const waited = bus.once('run.queued', ({ count }) => count > 1)
    for (const count of [1, 2, 3]) bus.publish(queued(count))
    expect(await waited).toEqual(queued(2))
  })

  it("rejects with the signal's reason, before or while it waits", async () => {
    const bus = createNoticeBus()
    const controller = new AbortController()
    const waited = bus.once('run.queued', undefined, controller.signal)
    controller.abort(new Error('too late'))
    await expect(waited).rejects.toThrow('too late')
    await expect(bus.once('run.queued', undefined, controller.signal)).rejects.toThrow('too late')
  })

  it('leaves no listener behind, however it ends', async () => {
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

  it('rejects with what its predicate throws', async () => {
    const bus = createNoticeBus()
    const waited = bus.once('run.queued', () => {
      throw new Error('broken predicate')
    })
    bus.publish(queued(1))
    await expect(waited).rejects.toThrow('broken predicate')
  })
})
