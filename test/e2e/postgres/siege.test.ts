import { expect, test } from 'vitest'
import { REST_MS, Siege } from './siege.ts'
import { OF_EACH_EVENT } from './siege-workflows.ts'

/** Kills of processes: `UPSHOT_TEST_KILLS=120` for a long siege. */
const KILLS = Number(process.env.UPSHOT_TEST_KILLS ?? 4)
const SEED = Number(process.env.UPSHOT_TEST_SEED ?? 1)
/** Events of a measured load, and of each round of faults. */
const MEASURED = KILLS > 20 ? 100 : 40
const PER_ROUND = 30
/** Loads after the faults, of which the fastest counts: other programs share the machine. */
const TRIES = 3
const LEAST_SHARE = 0.8

test('a siege loses nothing, does nothing twice, and leaves everything as fast as before', async () => {
  const siege = await Siege.begin(SEED)
  await siege.measure(MEASURED)
  const before = await siege.measure(MEASURED)
  while ((siege.faults['killed processes'] ?? 0) < KILLS) {
    const delivered = siege.deliver(PER_ROUND)
    await siege.strike()
    await delivered
  }
  await siege.failOver()
  const [backlog] = await siege.query<{ open: number }>('SELECT count(*)::int AS open FROM work')
  const restMs = await siege.rest(REST_MS)
  let after = 0
  for (let tries = 0; tries < TRIES && after < before * LEAST_SHARE; tries++) {
    after = Math.max(after, await siege.measure(MEASURED))
  }
  const figures = { faults: siege.faults, acknowledged: siege.acknowledged.size, backlog: backlog?.open, restMs }
  process.stdout.write(`${JSON.stringify({ ...figures, runsPerSecond: { before, after } })}\n`)

  const events = await siege.query<{ id: string; workflow: string; runs: number; completed: number }>(
    `SELECT event.id, run.workflow, count(*)::int AS runs,
       count(*) FILTER (WHERE outcome.status = 'completed')::int AS completed
     FROM event JOIN run ON run.event_seq = event.seq LEFT JOIN outcome ON outcome.run_id = run.id
     WHERE event.type LIKE 'file.%' GROUP BY 1, 2`,
  )
  const stored = new Set(events.map(({ id }) => id))
  expect([...siege.acknowledged].filter((id) => !stored.has(id))).toEqual([])
  expect(events.filter(({ runs, completed }) => runs !== 1 || completed !== 1)).toEqual([])
  for (const workflow of OF_EACH_EVENT) {
    const [row] = await siege.query<{ runs: number }>(
      `SELECT count(*)::int AS runs FROM outcome WHERE workflow = $1 AND status = 'completed'`,
      [workflow],
    )
    expect({ workflow, ...row }).toEqual({ workflow, runs: stored.size })
  }
  const once = siege.effects.filter((line) => line.startsWith('once '))
  expect(new Set(once).size).toBe(once.length)
  expect(siege.mostSlots).toBeLessThanOrEqual(5)
  const [ticks] = await siege.query<{ twice: number }>(
    'SELECT count(*)::int - count(DISTINCT tick_at)::int AS twice FROM run WHERE tick_at IS NOT NULL',
  )
  expect(ticks).toEqual({ twice: 0 })
  expect(siege.stacks()).not.toMatch(/^\s+at /m)
  expect(after / before).toBeGreaterThanOrEqual(LEAST_SHARE)
}, 3_600_000)
