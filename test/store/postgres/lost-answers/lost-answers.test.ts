import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ClaimedRun } from '../../../../src/core/runs/claim.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW, queueRun } from '../../../support/fixtures.ts'
import { makeSchema } from '../../../support/postgres-store.ts'
import { command } from './commands.ts'
import type { Fault, FaultyNetwork } from './faulty-network.ts'
import { History } from './history.ts'
import { openStores } from './open-stores.ts'

/** Histories that are previewed side by side, each in a schema of its own. */
const LANES = 6
/** Histories of each. */
const HISTORIES = 18
const SEED = 42

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
