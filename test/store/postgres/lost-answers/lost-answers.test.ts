import fc from 'fast-check'
import type pg from 'pg'
import { expect, test } from 'vitest'
import type { ClaimedRun } from '../../../../src/core/runs/claim.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW, queueRun } from '../../../support/fixtures.ts'
import { makeDatabase, makeSchema, openSession } from '../../../support/postgres-store.ts'
import { command } from './commands.ts'
import type { Fault, FaultyNetwork } from './faulty-network.ts'
import { History } from './history.ts'
import { openStores } from './open-stores.ts'

/** Histories that are previewed side by side, each in a schema of its own. */
const LANES = 6
/** Histories of each. */
const HISTORIES = 18
const SEED = Number(process.env.UPSHOT_TEST_SEED ?? 42)
/** The server ends no statement that a test has it wait with. */
const PATIENT_MS = 30_000

test('calls whose answers are lost are answered like those on a network without faults', async () => {
  const strikes = new Map<string, number>()
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const stores = await openStores()
    let previewed = 0
    const histories = fc.asyncProperty(fc.array(command, { minLength: 8, maxLength: 20 }), async (commands) => {
      const history = new History(stores, `${lane}_${previewed++}`)
      try {
        for (const each of commands) {
          await history.perform(each)
          for (const { side, how } of stores.network.struck)
            strikes.set(`${how} ${side}`, (strikes.get(`${how} ${side}`) ?? 0) + 1)
        }
        await history.compare()
      } finally {
        await history.end()
      }
    })
    await fc.assert(histories, { seed: SEED + lane, numRuns: HISTORIES, endOnFailure: true })
  })
  await Promise.all(lanes)
  // Faults have happened of every kind.
  expect([...strikes.keys()].sort()).toEqual([
    'cut answer',
    'cut request',
    'late request',
    'swallow answer',
    'swallow request',
  ])
})

test('a request that arrives long after it was made again undoes nothing of what came later', async () => {
  const { network, faulty } = await openStores()
  await queueRun(faulty)
  const { lease } = await claimNext(faulty)
  network.arm([{ side: 'request', skip: 0, share: 0, how: 'late' }])
  await faulty.saveCheckpoint(lease, checkpoint('a', { status: 'started', output: null, finishedAt: null }))
  expect(network.struck).toHaveLength(1)
  await faulty.saveCheckpoint(lease, checkpoint('a'))
  await network.deliverLate()
  expect(await faulty.listSteps(lease.runId)).toEqual([checkpoint('a')])
})

/** Loses the answer of the next call, and holds its repetition until `then` is done. */
async function loseAnswer<T>(network: FaultyNetwork, skip: Fault['skip'], call: () => Promise<T>, then: () => unknown) {
  network.arm([{ side: 'answer', skip, share: 0, how: 'cut' }])
  const struck = new Promise<void>((resolve) => {
    network.onStrike = () => {
      network.hold()
      resolve()
    }
  })
  const answer = call()
  await struck
  network.onStrike = () => {}
  await then()
  network.resume()
  return answer
}

test('a run that was claimed from the queue is not given to its delivery again', async () => {
  const { network, faulty, direct } = await openStores()
  await queueRun(faulty, 'evt_before')
  const delivery = incoming('evt_1', { arrivalClaim: { worker: 'wrk_1', codeHashes: {} } })
  const claimed: ClaimedRun[] = []
  const receipt = await loseAnswer(
    network,
    0,
    () => faulty.saveDelivery(delivery),
    async () => claimed.push(...(await direct.claimRuns('wrk_1', 9, NOW))),
  )
  expect(claimed.map(({ lease }) => lease.runId)).toContain(receipt.runs[0])
  expect(receipt).toMatchObject({ verdict: 'accepted' })
  expect(receipt.claimedWithEvent).toBeUndefined()
})

test('a claim that is made again while the server works at it has the runs of the first', async () => {
  const place = await makeDatabase()
  const { network, faulty, session } = await openStores(place, PATIENT_MS)
  const locking = await openSession(place)
  const runs = [await queueRun(faulty, 'evt_1'), await queueRun(faulty, 'evt_2'), await queueRun(faulty, 'evt_3')]
  // Behind the locks on the rows of `work`, and before their commit.
  await locking.query('BEGIN; LOCK TABLE run IN ACCESS EXCLUSIVE MODE')
  network.arm([{ side: 'request', skip: 0, share: 1, how: 'cut' }])
  const claimed = faulty.claimRuns('wrk_1', 2, NOW)
  await awaitClaims(session, 2)
  await locking.query('COMMIT')
  expect((await claimed).map(({ lease }) => lease.runId)).toEqual(runs.slice(0, 2))
  expect(network.struck).toHaveLength(1)
})

test('a claim whose last bytes are late is made again at once, and claims for nobody later', async () => {
  const { network, faulty } = await openStores()
  for (const event of ['evt_1', 'evt_2']) await queueRun(faulty, event)
  // All but the Sync, so that the server has claimed and waits for the commit.
  network.arm([{ side: 'request', skip: 0, share: 0.99, how: 'late' }])
  const claimed = await faulty.claimRuns('wrk_1', 1, NOW)
  expect(network.struck).toHaveLength(1)
  expect(claimed).toHaveLength(1)
  await network.deliverLate()
  expect(await faulty.listLeases('wrk_1')).toMatchObject(claimed.map(({ lease }) => ({ runId: lease.runId })))
})

/** Waits until so many claims wait for locks in the database of a session. */
async function awaitClaims(session: pg.Client, count: number): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'claim_runs'
    AND datname = current_database() AND application_name = 'upshot'`
  while ((await session.query(waiting)).rows.length < count);
}

test('a commit whose answer a failover has cost is not guessed by its number', async () => {
  const { network, faulty, session } = await openStores(makeSchema())
  const saved = loseAnswer(
    network,
    'commit',
    () => faulty.saveLimit('key', '{}', 0),
    // Stands for the promotion of a standby, which gives numbers of its own.
    () => session.query(`CREATE OR REPLACE FUNCTION era_1() RETURNS text LANGUAGE sql AS $$ SELECT 'another' $$`),
  )
  await expect(saved).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('failed over'),
  })
})

test('a session whose transaction did not begin is not left in it', async () => {
  const { faulty, session } = await openStores(makeSchema())
  const era = (body: string) =>
    session.query(`CREATE OR REPLACE FUNCTION era_1() RETURNS text LANGUAGE plpgsql AS $$ BEGIN ${body}; END $$`)
  await era(`RAISE 'a fault'`)
  await expect(faulty.saveLimit('key', '{}', 0)).rejects.toThrow('a fault')
  await era(`RETURN ''`)
  expect(await faulty.saveLimit('key', '{}', 0)).toBe(true)
})
