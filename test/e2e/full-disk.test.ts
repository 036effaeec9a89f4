import { rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillDisk, openLargeDeliveries } from '../support/large-deliveries.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { startTestApp } from '../support/test-app.ts'

test('an app whose disk has room for small deliveries alone is not ready, and says why', async ({ skip }) => {
  const disk = mountSmallDisk(16)
  if (disk === null) return skip('only root may mount a disk')
  const started = await startTestApp({}, { dataDir: join(disk, 'data') })
  const { deliver, deliverUntilRefused, readiness } = await openLargeDeliveries(started)
  expect(await deliver(100)).toBe(200)
  expect((await readiness()).status).toBe(200)
  const { bavail, bsize } = statfsSync(disk)
  const ballast = fillDisk(disk, bavail * bsize - 1_500_000)
  expect(await deliverUntilRefused(900_000)).toBe(503)
  // The row of a probe finds room, and so does a small delivery.
  expect(await started.app.store.checkWritable(Date.now())).toMatchObject({ isMigrated: true })
  expect(await deliver(100)).toBe(200)
  expect(await readiness()).toMatchObject({
    status: 503,
    checks: { writable: expect.stringContaining('the disk of the database is full') },
  })
  rmSync(ballast)
  expect(await deliver(900_000)).toBe(200)
})
