import { setTimeout as wait } from 'node:timers/promises'
import { type Goal, judge, type Result } from '../../report/result.ts'
import type { Bench } from '../suite.ts'
import { asBenchServer, startServer } from './bench-server.ts'

const GOALS = { recoverySeconds: { atMost: 5 }, failoverLost: { atMost: 0 } } as const satisfies Record<string, Goal>

const RUNS = 20
const SECONDS = 6

/** The price of a killed worker, and of a killed primary. */
export async function measureFailures(bench: Bench): Promise<Result[]> {
  return [
    judge('postgres.recoverySeconds', await measureRecovery(bench), 's', GOALS.recoverySeconds),
    judge('postgres.failoverLost', await measureFailover(bench), 'events', GOALS.failoverLost),
  ]
}

/** Seconds from the kill of a worker until another one has executed all of its runs. */
async function measureRecovery(bench: Bench): Promise<number> {
  await using server = await startServer(bench)
  await using doomed = bench.startTarget('stores.ts')
  const place = { urls: [server.url], schema: 'upshot' }
  await doomed.call('open', place)
  const held = await doomed.call<number>('hold', { runs: RUNS })
  await using worker = bench.startTarget('engine.ts')
  await worker.call('open', { ...place, slots: RUNS })
  // Its beat comes at some moment of a second.
  await wait(500)
  const killedAt = performance.now()
  doomed.kill()
  await worker.call('reach', held)
  const seconds = (performance.now() - killedAt) / 1_000
  bench.say(`  ${held} runs of a killed worker have ended elsewhere ${seconds.toFixed(1)} s later`)
  return seconds
}

/** Events that were acknowledged and are not on the synchronous standby that takes over. */
async function measureFailover(bench: Bench): Promise<number> {
  await using primary = await startServer(bench)
  await using standby = asBenchServer(await primary.addStandby())
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`)
  await primary.query('SELECT pg_reload_conf()')
  await using sender = bench.startTarget('stores.ts')
  await sender.call('open', { urls: [primary.url, standby.url], schema: 'upshot' })
  const sent = sender.call<string[]>('deliverFor', { seconds: SECONDS })
  await wait((SECONDS * 1_000) / 3)
  await primary.kill()
  await standby.promote()
  const acknowledged = await sent
  const stored = await standby.query<{ id: string }>('SELECT id FROM upshot.event')
  const found = new Set(stored.map(({ id }) => id))
  const lost = acknowledged.filter((id) => !found.has(id)).length
  bench.say(`  ${acknowledged.length} events acknowledged around a failover, ${lost} of them lost`)
  if (acknowledged.length === 0) return Number.NaN
  return lost
}
