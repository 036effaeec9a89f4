import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/core/time.ts'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { runHere } from '../../cli/support/run-here.ts'
import { askAdmission, concurrency } from '../../contract/support/ask-admission.ts'
import { checkpoint, incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { hasPgbouncer, startPgbouncer } from '../../support/pgbouncer.ts'
import { makeSchema, openTestPostgres } from '../../support/postgres-store.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** Settings of our sessions, beside those that PgBouncer always takes. */
const SETTINGS = ['options', 'statement_timeout', 'idle_in_transaction_session_timeout']

/** Of the pool, on the server. */
const SESSIONS = 4

async function makeUser() {
  const place = makeSchema()
  await openTestPostgres(place)
  const owner = new pg.Client(place.url)
  await owner.connect()
  const user = `pooled_${randomUUID().slice(0, 8)}`
  await owner.query(`CREATE ROLE ${user} LOGIN SUPERUSER`)
  onTestFinished(async () => {
    await owner.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1`, [user])
    await owner.query(`DROP ROLE ${user}`)
    await owner.end()
  })
  const open = async (url: string, direct: string | null = null) => {
    const directHosts = direct === null ? null : [{ connectionString: direct }]
    const hosts = [{ connectionString: url }]
    const opened = await openPostgresStore({ hosts, directHosts, schema: place.schema, vaultKey: Buffer.alloc(32) })
    onTestFinished(() => opened.close())
    return opened
  }
  const setPath = () => owner.query(`ALTER ROLE ${user} SET search_path = ${place.schema}`)
  return { place, user, open, setPath }
}

describe.skipIf(!hasPgbouncer)('behind PgBouncer in transaction mode (left out where it is not installed)', () => {
  test('a pooler that refuses or drops the settings of a session is told, with what to do', async () => {
    const { place, user, open } = await makeUser()
    await expect(open(await startPgbouncer(place.url, user, []))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('is behind a pooler that refuses what our sessions need'),
      details: { reason: 'pooled', fix: expect.stringContaining('ignore_startup_parameters') },
    })
    await expect(open(await startPgbouncer(place.url, user, SETTINGS))).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('drops the settings of our sessions: their search_path is'),
      details: { fix: expect.stringContaining(`ALTER ROLE ${user} SET search_path = ${place.schema}`) },
    })
  })

  test('a pooler that takes single statements alone is told at once, with what to do', async () => {
    const { place, user, open, setPath } = await makeUser()
    await setPath()
    const store = await open(await startPgbouncer(place.url, user, SETTINGS, 'statement'))
    await expect(store.startWorker('wrk_1', NOW)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('is behind a pooler that refuses what our sessions need'),
      details: { reason: 'pooled', fix: expect.stringContaining('pool_mode'), passes: false },
    })
  })

  test('doctor names a pooler that takes single statements alone, and one without a free session', async () => {
    const { place, user, setPath } = await makeUser()
    await setPath()
    const examine = async (url: string) => {
      const pooled = new URL(url)
      pooled.searchParams.set('schema', place.schema)
      const env = { UPSHOT_DATABASE_URL: pooled.href, UPSHOT_SECRET_KEY: randomBytes(32).toString('base64') }
      return (await runHere(tempFolder(), ['doctor'], { env })).stdout
    }
    expect(await examine(await startPgbouncer(place.url, user, SETTINGS, 'statement'))).toContain('Set pool_mode')
    const url = await startPgbouncer(place.url, user, SETTINGS)
    for (let n = 0; n < SESSIONS; n++) {
      const busy = new pg.Client(url)
      await busy.connect()
      onTestFinished(() => busy.end())
      await busy.query('BEGIN')
    }
    const beganAt = performance.now()
    expect(await examine(url)).toMatch(/database .*does not answer/)
    expect(performance.now() - beganAt).toBeLessThan(20_000)
  })

  test.each([
    { way: 'with a direct session beside it', isDirect: true },
    { way: 'without one, by looks', isDirect: false },
  ])('processes hear of one another $way, and do everything once', async ({ isDirect }) => {
    const { place, user, open, setPath } = await makeUser()
    await setPath()
    const url = await startPgbouncer(place.url, user, SETTINGS)
    const [one, two] = [await open(url, isDirect ? place.url : null), await open(url, isDirect ? place.url : null)]
    await one.startWorker('wrk_1', NOW)
    let heard = Promise.withResolvers<void>()
    const watch = two.watch(systemClock, () => heard.resolve())
    onTestFinished(() => watch.stop())
    await heard.promise
    heard = Promise.withResolvers<void>()
    await queueRun(one, 'evt_0')
    await heard.promise
    const events = Array.from({ length: 40 }, (_, n) => `evt_${n}`)
    const receipts = await Promise.all(
      events.flatMap((id) => [one, two].map((store) => store.saveDelivery(incoming(id)))),
    )
    expect(receipts.filter(({ verdict }) => verdict === 'accepted')).toHaveLength(39)
    let done = 0
    const work = async (store: typeof one, worker: string) => {
      while (done < events.length) {
        for (const run of await store.claimRuns(worker, 5, NOW)) {
          const isIn = run.isAdmitted || (await askAdmission(store, run, { gates: [concurrency] })).kind === 'admitted'
          if (!isIn) continue
          await store.saveCheckpoint(run.lease, checkpoint('a'))
          await store.completeRun(run.lease, 'null', NOW)
          done += 1
        }
      }
    }
    await Promise.all([work(one, 'wrk_1'), work(two, 'wrk_2')])
    expect(await two.countOpenRuns(NOW)).toMatchObject({ pending: 0, running: 0, waiting: 0 })
    expect(await one.listRuns({ status: 'completed', limit: 99 })).toHaveLength(40)
    // A session of the pool that answers before its commit is on the disk would be one for all.
    for (let n = 0; n < SESSIONS; n++) {
      const pooled = new pg.Client(url)
      await pooled.connect()
      onTestFinished(() => pooled.end())
      await pooled.query('BEGIN')
      expect((await pooled.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }])
    }
  })
})
