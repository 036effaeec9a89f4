import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { Operations } from '../../../src/cli/open/operations.ts'
import { follow, Tail } from '../../../src/cli/operate/tail-command.ts'

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

test('looks that take longer than changes come do not pile up, and the last change is seen', async () => {
  const changes = new EventEmitter()
  const watch = (_clock: unknown, onChange: () => void) => {
    changes.on('change', onChange)
    return { stop: () => {} }
  }
  const looks: (() => void)[] = []
  const look = () => new Promise<void>((resolve) => looks.push(resolve))
  const ended = follow({ local: { store: { watch } } } as unknown as Operations, Date.now() + 300, look)
  await expect.poll(() => looks.length).toBe(1)
  for (let change = 0; change < 50; change++) changes.emit('change')
  looks[0]?.()
  await expect.poll(() => looks.length).toBe(2)
  looks[1]?.()
  await ended
  expect(looks).toHaveLength(2)
})
