import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/core/time.ts'
import { Pool } from '../../../src/store/postgres/database/pool.ts'
import { translateFault } from '../../../src/store/postgres/database/postgres-fault.ts'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { queueRun } from '../../support/fixtures.ts'
import { Network } from '../../support/network.ts'
import { makeSchema } from '../../support/postgres-store.ts'

/** Far above each deadline; a call without one never ends. */
const DEADLINE_MS = 30_000

/** A store before which there is a network, and one with a network of its own. */
async function openTwo() {
  const { url, schema } = makeSchema()
  const network = await Network.open(Number(new URL(url).port))
  const [near, far] = [url, url.replace(/:\d+\//, `:${network.port}/`)].map((connectionString) =>
    openPostgresStore({ hosts: [{ connectionString }], schema, vaultKey: Buffer.alloc(32), mayMigrate: true }),
  )
  const [writer, store] = await Promise.all([near, far] as const)
  if (!writer || !store) throw new Error('no store')
  onTestFinished(async () => void (await Promise.all([writer.close(), store.close()])))
  return { writer, store, network }
}

async function timeOf(work: Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work
  return performance.now() - startedAt
}

test('a store is closed though its network swallows the goodbye of each session', async () => {
  const { store, network } = await openTwo()
  store.watch(systemClock, () => {})
  await Promise.all([store.listRuns({ limit: 1 }), store.listRuns({ limit: 1 })])
  network.swallow()
  expect(await timeOf(store.close())).toBeLessThan(DEADLINE_MS)
})

test('a call that waits for a session is refused in time, and takes none', async () => {
  const { url: connectionString, schema } = makeSchema()
  const pool = new Pool({ hosts: [{ connectionString }], schema, size: 1, waitMs: 50 })
  onTestFinished(() => pool.close())
  const session = await pool.take()
  const waiting = [pool.take(), pool.take()]
  for (const one of waiting) {
    const fault = await one.catch((error: unknown) => error)
    expect(translateFault(fault, 'here')).toMatchObject({ details: { reason: 'timeout', passes: true } })
  }
  const next = pool.take()
  pool.release(session, true)
  expect(await next).toBe(session)
})

test('a process that only listens hears of writes again after its connection went silent', async () => {
  const { writer, store, network } = await openTwo()
  let changes = 0
  const heard = Promise.withResolvers<void>()
  store.watch(systemClock, () => {
    changes += 1
    if (changes === 1) heard.resolve()
  })
  // The session has opened.
  await heard.promise
  const hearsNext = async (event: string) => {
    const before = changes
    await queueRun(writer, event)
    await expect.poll(() => changes).toBeGreaterThan(before)
  }
  await hearsNext('evt_1')
  network.silence()
  await hearsNext('evt_2')
})
