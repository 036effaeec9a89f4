import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { Cluster } from './cluster.ts'

const HOUR = 3_600_000

/** Sets the clock of a machine ahead by an hour, or back. */
const shifted = (ms: number) => `--import "data:text/javascript,const now=Date.now;Date.now=()=>now()+${ms}"`

test("a command acts by the database's clock on a machine that is off", async () => {
  const cluster = new Cluster(undefined, { NODE_OPTIONS: shifted(HOUR) })
  await cluster.command('db', 'migrate')
  await cluster.command('effects', 'stop', '--reason', 'a test', '--yes')
  expect(await cluster.command('effects', 'verify')).toContain('1 row')
  const store = await cluster.open()
  const now = (await store.readClock()) ?? 0
  const [stop] = await store.listStops()
  const [audited] = await store.listActions({ limit: 1 })
  for (const at of [stop?.since, audited?.at]) expect(Math.abs(now - (at ?? 0))).toBeLessThan(HOUR / 2)
})

test("a command leaves the shared limit of a key at the database's time", async () => {
  const cluster = new Cluster(undefined, { NODE_OPTIONS: shifted(HOUR) })
  await cluster.command('db', 'migrate')
  // Nobody answers at the address of the service, and the limit has counted the call.
  await cluster.command('files', 'ls', 'storage_a:/').catch(() => {})
  const store = await cluster.open()
  const now = (await store.readClock()) ?? 0
  const client = new pg.Client(inject('databaseUrl'))
  await client.connect()
  onTestFinished(() => client.end())
  const { rows } = await client.query<{ state: string }>(`SELECT state FROM ${cluster.schema}.key_limit`)
  const starts = rows.flatMap(({ state }) => JSON.parse(state).starts)
  expect(starts).not.toEqual([])
  for (const at of starts) expect(Math.abs(now - at)).toBeLessThan(HOUR / 2)
})
