import { expect, test } from 'vitest'
import type { Run } from '../../src/core/runs/run.ts'
import type { EffectRecord } from '../../src/core/safety/effect.ts'
import { DATABASES, type DatabaseName, inDatabase } from '../support/databases.ts'
import type { Place } from '../support/open-place.ts'
import { type Siege, startSiege } from './guard-siege.ts'
import { PER_RUN } from './siege-scenario.ts'

/** Kills of the siege. The full size is 1,000: `UPSHOT_SIEGE_KILLS=1000`. */
const killsOn = (database: DatabaseName) => Number(process.env.UPSHOT_SIEGE_KILLS ?? (database === 'SQLite' ? 60 : 20))
const SEED = Number(process.env.UPSHOT_SIEGE_SEED ?? Date.now() % 1_000_000)

const HOUR = 3_600_000

test.each(DATABASES)(
  `four processes on %s that are killed delete nothing over a limit or outside an approved list (seed ${SEED})`,
  (database) => inDatabase(database, (place) => besiege(place, killsOn(database))),
  20 * HOUR,
)

async function besiege(place: Place, kills: number): Promise<void> {
  const siege = await startSiege(place, { kills, seed: SEED })
  try {
    await checkSiege(siege)
  } finally {
    await siege.end()
  }
}

async function checkSiege(siege: Siege): Promise<void> {
  const { store, approved, perDay } = siege
  await siege.killAll()
  await siege.approveRest()

  const rows = await siege.listLedger()
  const { counted, granted } = checkLedger(rows, approved)
  expect(Math.max(...counted.values())).toBeLessThanOrEqual(PER_RUN)
  const unasked = [...counted.values()].reduce((sum, count) => sum + count, 0)
  // More was wanted than the limit allows, so it is full; and the counter is the ledger's count.
  expect(unasked).toBe(perDay)
  const use = await store.listGuardUse(Date.now())
  const countOf = (kind: string) => use.find((u) => u.scope === 'all' && u.window === 'day' && u.class === kind)?.count
  expect([countOf('delete'), countOf('approved')]).toEqual([unasked, granted])

  const begun = new Set(rows.filter(({ phase }) => phase === 'begun').map(({ target }) => target))
  expect(siege.listGone().filter((target) => !begun.has(target))).toEqual([])
  const runs = await store.listRuns({ limit: 10_000 })
  expect(runs.filter(({ status, error }) => !(status === 'completed' || error?.code === 'denied'))).toEqual([])
  expect(siege.listGone()).toEqual(expect.arrayContaining(siege.filesOf(runs.filter(isCompleted))))
}

const isCompleted = ({ status }: Run) => status === 'completed'

/**
 * Follows the ledger: no delete begins twice, under a stop, or outside its approval's list. Returns
 * the deletes of each run that no person approved.
 */
function checkLedger(rows: readonly EffectRecord[], approved: ReadonlySet<string>) {
  const begun = new Set<string>()
  const counted = new Map<string, number>()
  let isStopped = false
  let granted = 0
  for (const { phase, operation, runId, step, approval, asked, seq } of rows) {
    if (phase === 'switched') isStopped = operation === 'stop'
    if (phase !== 'begun' || runId === null) continue
    const name = `${runId} ${step}`
    if (isStopped) expect.fail(`row ${seq} began under a stop`)
    if (begun.has(name)) expect.fail(`row ${seq} counts ${name} a second time`)
    begun.add(name)
    if (approval === null) counted.set(runId, (counted.get(runId) ?? 0) + 1)
    else if (!approved.has(`${approval} ${name} ${asked}`)) expect.fail(`row ${seq} is in no approved list`)
    else granted += 1
  }
  return { counted, granted }
}
