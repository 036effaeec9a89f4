import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openConnectedStore } from '../../../../src/store/sqlite/thread/connected-store.ts'
import { openThreadedStore } from '../../../../src/store/sqlite/thread/threaded-store.ts'
import { incoming, NOW } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

/** A store with a second connection to its writer, as the engine's thread has one. */
function openTwo() {
  const options = { file: join(tempFolder(), 'upshot.db'), vaultKey: randomBytes(32) }
  const owner = openThreadedStore(options)
  onTestFinished(() => owner.close())
  const connection = owner.connect()
  return { owner, connection, beside: openConnectedStore(options, connection.port) }
}

test('writes through either connection are committed by one writer, and read by both', async () => {
  const { owner, beside } = openTwo()
  await owner.saveDelivery(incoming('evt_1'))
  await beside.startWorker('wrk_1', NOW)
  const [run] = await beside.claimRuns('wrk_1', 1, NOW)
  expect(await owner.listRuns({ limit: 1 })).toMatchObject([{ id: run?.lease.runId, status: 'running' }])
  await beside.close()
  expect(await owner.saveDelivery(incoming('evt_2'))).toMatchObject({ verdict: 'accepted' })
})

test('a connection that closes commits its earlier writes, and refuses later ones', async () => {
  const { owner, beside } = openTwo()
  const asked = Array.from({ length: 30 }, (_, n) => beside.saveDelivery(incoming(`evt_${n}`)))
  const closed = beside.close()
  await expect(beside.startWorker('wrk_1', NOW)).rejects.toMatchObject({ code: 'store_unavailable' })
  await closed
  await Promise.all(asked)
  expect(await owner.listEvents({ limit: 100 })).toHaveLength(30)
})

test('nothing that comes through a connection after it was cut is written', async () => {
  const { owner, connection, beside } = openTwo()
  await beside.startWorker('wrk_1', NOW)
  connection.cut()
  // Committed after the cut: the writer handles both in the order in which they were asked.
  await owner.saveDelivery(incoming('evt_1'))
  const late = beside.claimRuns('wrk_1', 1, NOW)
  await expect(late).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(await owner.listRuns({ limit: 1 })).toMatchObject([{ status: 'pending' }])
})

test('the writer ends with its owner, whatever connections are open', async () => {
  const { owner, beside } = openTwo()
  await owner.close()
  await expect(beside.startWorker('wrk_1', NOW)).rejects.toMatchObject({ code: 'store_unavailable' })
})
