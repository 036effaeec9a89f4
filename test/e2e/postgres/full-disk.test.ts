import { randomBytes } from 'node:crypto'
import { chownSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openLargeDeliveries } from '../../support/large-deliveries.ts'
import { postDelivery } from '../../support/post-delivery.ts'
import { startPostgres, type TestServer } from '../../support/postgres-server.ts'
import { openTestPostgres } from '../../support/postgres-store.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { startTestApp } from '../../support/test-app.ts'
import { WEBHOOK_SECRET } from '../../support/test-config.ts'
import { Cluster } from './cluster.ts'

/** Leaves no room on a disk; gives what has to go for it to have some again. */
function fillDisk(disk: string): string {
  const ballast = join(disk, 'ballast')
  const { bavail, bsize } = statfsSync(disk)
  try {
    writeFileSync(ballast, Buffer.alloc(bavail * bsize))
  } catch {
    // The server took the rest.
  }
  return ballast
}

/** Starts a server that has ended itself, since it could not write its log. */
async function startAgain(server: TestServer): Promise<void> {
  const client = new pg.Client(server.url)
  client.on('error', () => {})
  const fault = await client.connect().then(
    () => null,
    (error: { code?: string }) => error.code,
  )
  await client.end().catch(() => {})
  if (fault === 'ECONNREFUSED') await server.start()
}

test('an app whose server has a full disk answers 503 and says why, loses nothing, and goes on by itself', async ({
  skip,
}) => {
  const disk = mountSmallDisk(160)
  if (disk === null) return skip('only root may mount a disk')
  const server = await startPostgres(['min_wal_size = 32MB', 'max_wal_size = 48MB'], disk)
  onTestFinished(() => server.stop())
  const cluster = new Cluster({ url: server.url, schema: 'upshot' })
  await cluster.command('db', 'migrate')
  const app = await cluster.start('all')
  const acknowledged: string[] = []
  const deliver = async (id: string, data?: object) => {
    const { status } = await postDelivery(app.endpoint, WEBHOOK_SECRET, id, data)
    if (status === 200) acknowledged.push(id)
    return status
  }
  expect(await deliver('evt_before')).toBe(200)
  const ballast = fillDisk(disk)
  let status = 200
  const note = () => ({ note: randomBytes(150_000).toString('base64') })
  for (let n = 0; n < 500 && status === 200; n++) status = await deliver(`evt_${n}`, note())
  expect(status).toBe(503)
  // A server that cannot write its log ends itself.
  const isTold = ({ message, reason }: Record<string, unknown>) =>
    message === 'delivery refused' && /^database_(full|unreachable)$/.test(String(reason))
  await app.line(isTold)
  rmSync(ballast)
  while ((await deliver('evt_after')) !== 200) await startAgain(server)
  const store = await cluster.open()
  await cluster.completed(store, acknowledged.length)
  const runs = await store.listRuns({ workflow: 'follow-up', limit: 1_000 })
  const ran = runs.map(({ eventId }) => eventId)
  expect(new Set(ran).size).toBe(ran.length)
  expect(ran).toEqual(expect.arrayContaining(acknowledged))
})

test('an app whose server has room for small deliveries alone is not ready, and says why', async ({ skip }) => {
  const disk = mountSmallDisk(64)
  if (disk === null) return skip('only root may mount a disk')
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  const folder = join(disk, 'tables')
  mkdirSync(folder)
  const { uid, gid } = statSync(join(server.folder, 'data'))
  chownSync(folder, uid, gid)
  const owner = new pg.Client(server.url)
  await owner.connect()
  // The log of the server has another disk, so that the server lives on.
  await owner.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
  await owner.query('CREATE DATABASE small TABLESPACE small')
  await owner.end()
  const url = server.url.replace(/postgres$/, 'small')
  await openTestPostgres({ url, schema: 'upshot' })
  const host = { host: '127.0.0.1', port: server.port, user: 'postgres', database: 'small', tls: null }
  const database = { hosts: [host], directHosts: null, readHosts: null, schema: 'upshot', connections: 10 }
  const started = await startTestApp({}, { config: { database } })
  const { deliver, deliverUntilRefused, readiness } = await openLargeDeliveries(started)
  expect(await deliver(100)).toBe(200)
  expect((await readiness()).status).toBe(200)
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - 1_500_000))
  expect(await deliverUntilRefused(900_000)).toBe(503)
  expect(await started.app.store.checkWritable(Date.now())).toMatchObject({ isMigrated: true })
  expect(await readiness()).toMatchObject({
    status: 503,
    checks: { writable: expect.stringContaining('the disk of the database is full') },
  })
  rmSync(join(disk, 'ballast'))
  expect(await deliver(900_000)).toBe(200)
})
