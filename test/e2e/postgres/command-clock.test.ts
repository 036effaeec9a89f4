import { expect, test } from 'vitest'
import { Cluster } from './cluster.ts'

const HOUR = 3_600_000

/** Sets the clock of a machine ahead by an hour, or back. */
const shifted = (ms: number) => `--import "data:text/javascript,const now=Date.now;Date.now=()=>now()+${ms}"`

test("a command acts by the database's clock on a machine that is off", async () => {
  const cluster = new Cluster(undefined, { NODE_OPTIONS: shifted(HOUR) })
  await cluster.command('db', 'migrate')
  await cluster.command('effects', 'stop', '--reason', 'a test', '--yes')
  const store = await cluster.open()
  const now = (await store.readClock()) ?? 0
  const [stop] = await store.listStops()
  const [audited] = await store.listActions({ limit: 1 })
  for (const at of [stop?.since, audited?.at]) expect(Math.abs(now - (at ?? 0))).toBeLessThan(HOUR / 2)
})
