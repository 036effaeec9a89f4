import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Operations } from '../../../src/cli/open/operations.ts'
import { follow, Tail } from '../../../src/cli/operate/tail-command.ts'
import { UpshotError } from '../../../src/core/errors.ts'

const PAGE = 500

interface Listed {
  id: string
  account: string
  seq: number
}

/** A list that grows, and the number of its pages that were asked for. */
function growingList() {
  const items: Listed[] = []
  let pages = 0
  const perform: Operations['perform'] = async (_name, { query = {} } = {}) => {
    pages++
    const before = query.after === undefined ? items.length : Number(query.after)
    const from = Math.max(before - Number(query.limit), 0)
    return { items: items.slice(from, before).toReversed(), next: from === 0 ? null : String(from) }
  }
  return {
    operations: { perform } as Operations,
    pagesOf: async (look: () => Promise<unknown>) => {
      const before = pages
      await look()
      return pages - before
    },
    add: (count: number) => {
      const from = items.length
      for (let seq = from; seq < from + count; seq++) items.push({ id: `evt_${seq}`, account: 'default', seq })
    },
  }
}

test('each new item is told once, none of before, and a look reads what came since the last one', async () => {
  const list = growingList()
  list.add(30)
  const words = { only: ['type', '--type <type>', ''] as const, place: ({ seq }: Listed) => seq, line: () => '' }
  const tail = new Tail(list.operations, { name: 'GET /events', words: words as never, query: {}, last: 10 })
  let told = (await tail.readChanged()).length
  expect(told).toBe(10)
  for (let look = 0; look < 20; look++) {
    list.add(PAGE)
    // The second page has items of the look before.
    expect(await list.pagesOf(async () => (told += (await tail.readChanged()).length))).toBeLessThanOrEqual(2)
  }
  list.add(10 * PAGE)
  told += (await tail.readChanged()).length
  expect(told).toBe(10 + 20 * PAGE + 10 * PAGE)
  expect(await tail.readChanged()).toEqual([])
})

const notes: string[] = []
const out = { note: (text: string) => void notes.push(text) }

test('a server that starts again is waited for, once it has answered, and another fault ends the tail', async () => {
  const away = new UpshotError('service_failed', 'The server cannot be reached.')
  const looks = [null, away, away, null, new UpshotError('unauthenticated', 'no')]
  const seen: unknown[] = []
  const look = async () => {
    const fault = looks[seen.length] ?? null
    seen.push(fault)
    if (fault) throw fault
  }
  const tail = () => follow({ local: null } as unknown as Operations, { end: Date.now() + 60_000, out }, look)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const ended = tail().catch((error: unknown) => error)
  for (const count of [1, 2, 3, 4, 5]) {
    await vi.waitFor(() => expect(seen).toHaveLength(count))
    vi.advanceTimersByTime(1_000)
  }
  expect(await ended).toBe(looks[4])
  expect(notes).toEqual(['The server cannot be reached. The next lines come once it answers.'])
  looks.splice(0, looks.length, away)
  seen.length = 0
  await expect(tail()).rejects.toBe(away)
})

test('looks that take longer than changes come do not pile up, and the last change is seen', async () => {
  const changes = new EventEmitter()
  const watch = (_clock: unknown, onChange: () => void) => {
    changes.on('change', onChange)
    return { stop: () => {} }
  }
  const looks: (() => void)[] = []
  const look = () => new Promise<void>((resolve) => looks.push(resolve))
  const ended = follow({ local: { store: { watch } } } as unknown as Operations, { end: Date.now() + 300, out }, look)
  await expect.poll(() => looks.length).toBe(1)
  for (let change = 0; change < 50; change++) changes.emit('change')
  looks[0]?.()
  await expect.poll(() => looks.length).toBe(2)
  looks[1]?.()
  await ended
  expect(looks).toHaveLength(2)
})
