import { expect, test } from 'vitest'
import type { IncomingDelivery } from '../../src/core/incoming/delivery.ts'
import type { Store } from '../../src/core/store/store.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const SENDERS = 100
const EACH = 6
const QUEUE = 10
/** Answers per commit of this test's disk: counted, not timed, so that every machine passes. */
const LOAD = 10

/** The real store behind a disk that commits a tenth of the load. */
function slowDown(store: Store) {
  const state = { senders: 0, most: 0 }
  let waiting: (() => void)[] = []
  let answered = 0
  const commit = () => {
    const group = waiting
    waiting = []
    for (const go of group) go()
  }
  /** Commits once every sender waits for the disk, because then nobody sends. */
  const settle = () => {
    if (waiting.length > 0 && waiting.length >= state.senders) commit()
  }
  const saveDelivery = async (delivery: IncomingDelivery) => {
    const turn = new Promise<void>((resolve) => waiting.push(resolve))
    state.most = Math.max(state.most, waiting.length)
    settle()
    await turn
    return store.saveDelivery(delivery)
  }
  const noteAnswer = () => {
    answered += 1
    if (answered % (LOAD * QUEUE) === 0) commit()
  }
  return { state, noteAnswer, settle, intake: { saveDelivery } }
}

test('a receiver at ten times its load refuses the excess, keeps accepted deliveries, and recovers', async () => {
  const inner = await createTestReceiver()
  const { state, noteAnswer, settle, intake } = slowDown(inner.store)
  const { url } = await createTestReceiver({ store: inner.store, intake, limits: { inFlight: QUEUE } })
  const taken: string[] = []
  const refused: string[] = []
  const deliver = async (id: string) => {
    const { status, retryAfter } = await postDelivery(`${url}${inner.path}`, SECRET, id)
    if (status === 503) expect(retryAfter).toBeGreaterThan(0)
    else expect(status).toBe(200)
    ;(status === 200 ? taken : refused).push(id)
    noteAnswer()
  }
  const send = async (ids: readonly string[]) => {
    state.senders += 1
    for (const id of ids) await deliver(id)
    state.senders -= 1
    settle()
  }
  const idsOf = (sender: number) => Array.from({ length: EACH }, (_, n) => `evt_${sender}_${n}`)
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(idsOf(sender))))

  expect(taken.length + refused.length).toBe(SENDERS * EACH)
  expect(refused.length).toBeGreaterThan(taken.length)
  expect(taken.length).toBeGreaterThanOrEqual(QUEUE)
  expect(state.most).toBeLessThanOrEqual(QUEUE)
  const stored = async () => (await inner.store.listEvents({ limit: 10_000 })).map((event) => event.id).sort()
  expect(await stored()).toEqual([...taken].sort())

  // One sender retries at a time, so each refused delivery is accepted, on the same slow disk.
  await send(refused.splice(0))
  expect(refused).toEqual([])
  expect(new Set(taken).size).toBe(SENDERS * EACH)
  expect(await stored()).toEqual([...taken].sort())
  expect(await inner.store.listRuns({ limit: 10_000 })).toHaveLength(SENDERS * EACH)
}, 60_000)
