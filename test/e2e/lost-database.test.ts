import { existsSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { postDelivery } from '../support/post-delivery.ts'
import { DOOR } from '../support/program.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../support/test-config.ts'

const followUp = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'follow-up', on: 'file.*', run: () => null })`
/** The bound of an answer is 6 s, whatever happens to the database. A busy machine has longer. */
const WITHIN_MS = 30_000

async function startApp(root = tempFolder(), environment: Record<string, string> = {}) {
  const started = startIn(makeProject({ 'follow-up.workflow.ts': followUp }, root), {
    ...NO_SERVICE_VARIABLES,
    ...environment,
  })
  const { urls } = await started.line(({ message }) => message === 'started')
  const { 'endpoint service': url = '', admin = '' } = urls as Record<string, string>
  let count = 0
  const deliver = async () => {
    const startedAt = performance.now()
    const { status } = await postDelivery(url, WEBHOOK_SECRET, `evt_${++count}`)
    expect(performance.now() - startedAt).toBeLessThan(WITHIN_MS)
    return status
  }
  const ready = async () => {
    const answer = await fetch(`${admin}/readyz`)
    const { checks } = (await answer.json()) as { checks: Record<string, string> }
    return { status: answer.status, writable: checks.writable ?? '' }
  }
  /** Ends it as an operator does, with a bound. */
  const terminate = async () => {
    const startedAt = performance.now()
    started.child.kill('SIGTERM')
    await started.exited
    expect(performance.now() - startedAt).toBeLessThan(WITHIN_MS)
  }
  return {
    ...started,
    file: join(started.root, environment.UPSHOT_DATA_DIR ?? 'data', 'upshot.db'),
    deliver,
    ready,
    terminate,
  }
}

const isAboutFile = (file: string) => (line: Record<string, unknown>) =>
  line.message === 'fault' && JSON.stringify(line.err ?? '').includes(`The database ${file} `)

test('a database that is deleted under the app is noticed at once, and told in one line', async () => {
  const app = await startApp()
  expect(await app.deliver()).toBe(200)
  rmSync(app.file)
  expect(await Promise.all(Array.from({ length: 20 }, app.deliver))).toEqual(Array(20).fill(503))
  expect(await app.ready()).toMatchObject({ status: 503, writable: expect.stringContaining(`${app.file} is gone`) })
  const refused = app.lines.filter(({ verdict }) => verdict === 'unavailable')
  expect(refused[0]).toMatchObject({ reason: 'database_gone' })
  await app.terminate()
  expect(app.lines.filter(isAboutFile(app.file))).toHaveLength(1)
}, 60_000)

test('a database that is replaced under the app is refused, and taken again once the right one is back', async () => {
  const app = await startApp()
  expect(await app.deliver()).toBe(200)
  renameSync(app.file, `${app.file}.away`)
  writeFileSync(app.file, 'a backup, copied in by hand')
  expect(await app.deliver()).toBe(503)
  expect(await app.ready()).toMatchObject({ status: 503, writable: expect.stringContaining('was replaced') })
  renameSync(`${app.file}.away`, app.file)
  expect(await app.deliver()).toBe(200)
  expect(await app.ready()).toMatchObject({ status: 200 })
  await app.terminate()
}, 60_000)

test('a database that another process locks is answered 503 within 6 s for as long, and used again after', async () => {
  const app = await startApp()
  const other = new Database(app.file)
  onTestFinished(() => void other.close())
  other.exec('BEGIN IMMEDIATE')
  expect(await Promise.all(Array.from({ length: 50 }, app.deliver))).toEqual(Array(50).fill(503))
  expect(await app.deliver()).toBe(503)
  expect(await app.ready()).toMatchObject({ status: 503, writable: expect.stringContaining('is locked by another') })
  other.exec('ROLLBACK')
  expect(await app.deliver()).toBe(200)
  other.exec('BEGIN IMMEDIATE')
  await app.terminate()
  other.exec('ROLLBACK')
}, 60_000)

test('a database that is overwritten or emptied under the app is answered 503 within 6 s', async () => {
  const [damaged, emptied] = [await startApp(), await startApp()]
  for (const { file } of [damaged, emptied]) moveLogIntoFile(file)
  writeFileSync(damaged.file, Buffer.alloc(statSync(damaged.file).size, 'x'), { flag: 'r+' })
  truncateSync(emptied.file)
  for (const app of [damaged, emptied]) {
    const startedAt = performance.now()
    while ((await app.deliver()) === 200) expect(performance.now() - startedAt).toBeLessThan(WITHIN_MS)
    expect(await app.ready()).toMatchObject({ status: 503 })
    await app.terminate()
  }
  const reasons = damaged.lines.filter(({ verdict }) => verdict === 'unavailable').map(({ reason }) => reason)
  expect(new Set(reasons)).toEqual(new Set(['database_corrupt']))
}, 60_000)

function moveLogIntoFile(file: string): void {
  const other = new Database(file)
  other.pragma('wal_checkpoint(TRUNCATE)')
  other.close()
}

test('a full disk is answered 503 with its reason, and deliveries are taken again once there is space', async ({
  skip,
}) => {
  const disk = mountSmallDisk(4)
  if (disk === null) return skip('only root may mount a disk')
  const app = await startApp(tempFolder(), { UPSHOT_DATA_DIR: disk })
  expect(await app.deliver()).toBe(200)
  const filler = join(disk, 'filler')
  for (let size = 4_096; size > 0; size = Math.floor(size / 2)) fill(filler, size)
  let status = 200
  for (let n = 0; n < 500 && status === 200; n++) status = await app.deliver()
  expect(status).toBe(503)
  expect(await app.ready()).toMatchObject({ status: 503, writable: expect.stringContaining('is on a full disk') })
  rmSync(filler)
  expect(await app.deliver()).toBe(200)
  expect(existsSync(filler)).toBe(false)
  await app.terminate()
}, 60_000)

/** Appends blocks of `kibibytes` until the disk has no room for one more. */
function fill(file: string, kibibytes: number): void {
  try {
    for (;;) writeFileSync(file, Buffer.alloc(kibibytes * 1_024), { flag: 'a' })
  } catch {
    // The disk is full.
  }
}

test('a start after a crash tells that the log of the database is missing', async () => {
  const app = await startApp()
  expect(await app.deliver()).toBe(200)
  app.child.kill('SIGKILL')
  await app.exited
  rmSync(`${app.file}-wal`)
  const next = await startApp(app.root)
  await next.line((line) => line.level === 'error' && line.file === `${app.file}-wal`)
  await next.terminate()
}, 60_000)
