import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Asked, EffectAsk } from '../../src/core/safety/effect.ts'
import { type Limit, WINDOWS } from '../../src/core/safety/guard.ts'
import type { Store } from '../../src/core/store/store.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { deleteAsk } from '../contract/support/begin-delete.ts'
import { DATABASES, type DatabaseName, inDatabase } from '../support/databases.ts'
import { checkpoint, NOW, queueRun } from '../support/fixtures.ts'
import { inStore } from '../support/open-place.ts'

/** Parts of the full size, which is 1,000,000 asks and 10,000 histories. */
const SHARES = { SQLite: Number(process.env.SAFETY_SHARE ?? 0.015), PostgreSQL: 0.002 }
/** Histories beside each other in one database. */
const BESIDE = 20
const SEED = Number(process.env.SAFETY_SEED ?? Date.now() % 1_000_000)

const over = { what: 'deletes', over: 'approve' } as const
const seen = (bytes: number): Asked => ({ path: '/a', bytes, modifiedAt: null })

/** A database that no test has used; a file would only cost time here. */
function inFreshStore<T>(database: DatabaseName, use: (store: Store) => Promise<T>): Promise<T> {
  if (database === 'SQLite') return inStore({ file: ':memory:' }, use)
  return inDatabase(database, (place) => inStore(place, use))
}

async function makeRuns(store: Store, count: number): Promise<Lease[]> {
  for (let n = 0; n < count; n++) await queueRun(store, `evt_${n}`)
  return (await store.claimRuns('wrk_1', count, NOW)).map(({ lease }) => lease)
}

/** Small limits of a scope, and of each run. */
function limitsOf(scope: string, run: string): Limit[] {
  return [
    { ...over, scope: `run/${run}`, window: 'run', most: 40, setting: 'guard.workflow.deletes.perRun' },
    { ...over, scope: `workflow/${scope}`, window: 'hour', most: 7, setting: 'guard.workflow.deletes.perHour' },
    { ...over, scope: 'all', window: 'day', most: 60, setting: 'guard.all.deletes.perDay' },
  ]
}

const windowMs = { run: Infinity, hour: WINDOWS.hour.ms, day: WINDOWS.day.ms }

async function askAtRandom(store: Store, share: number): Promise<void> {
  const random = seededRandom(SEED)
  const leases = await makeRuns(store, 200)
  const granted = new Map<string, number[]>()
  let now = NOW
  let passed = 0
  const batch = 200
  for (let asked = 0; asked < 1_000_000 * share; asked += batch) {
    now += Math.floor(random() ** 4 * 3_600_000) - (random() < 0.1 ? Math.floor(random() * 7_200_000) : 0)
    const lease = leases[Math.floor(random() * leases.length)] as Lease
    const workflow = `w${Math.floor(random() * 5)}`
    const asks = Array.from({ length: batch }, (_, n): EffectAsk => {
      const limits = limitsOf(workflow, lease.runId).map((limit) => ({ ...limit, over: 'wait' as const }))
      const key = `d${Math.floor(random() * 400)}-${n}-${asked}`
      return deleteAsk(checkpoint(key, { target: `storage_a:${key}` }), { workflow, limits, asked: seen(1) })
    })
    const options = { now, needs: 1, expiresAt: now + 86_400_000, together: random() < 0.1 }
    const permits = await store.beginEffects(lease, asks, options)
    for (const [index, permit] of permits.entries()) {
      if (permit.kind !== 'granted') continue
      passed += 1
      for (const { scope, window, most } of asks[index]?.limits ?? []) {
        const times = [...(granted.get(scope) ?? []), now].filter((at) => at > now - windowMs[window])
        granted.set(scope, times)
        if (times.length > most) expect.fail(`${times.length} deletes of ${scope} within a ${window} (seed ${SEED})`)
      }
    }
  }
  expect(passed).toBeGreaterThan(100 * share)
}

/** One random history of asks, words, changes and ends; returns how many effects began. */
async function runHistory(store: Store, leases: Lease[], account: string, random: () => number): Promise<number> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const NONE: Limit[] = [{ ...over, scope: account, window: 'hour', most: 0, setting: 'guard.all.deletes.perHour' }]
  const approved = new Set<string>()
  const nameOf = (run: string, step: string, asked: Asked | null) => JSON.stringify([run, step, asked])
  let now = NOW
  let began = 0
  for (let act = 0; act < 40; act++) {
    now += Math.floor(random() * 3_600_000)
    const [open] = (await store.listApprovals({ status: 'open', limit: 50, now })).filter((a) => a.account === account)
    if (random() < 0.7 || !open) {
      const lease = pick(leases)
      const key = `${account}-${pick(['a', 'b', 'c', 'd'])}`
      const asked = seen(pick([1, 2]))
      const ask = deleteAsk(checkpoint(key, { target: `storage_a:${key}` }), { account, limits: NONE, asked })
      const options = { now, needs: 1, expiresAt: now + 10 * 3_600_000 }
      const [permit] = await store.beginEffects(lease, [ask], options)
      if (permit?.kind !== 'granted') continue
      began += permit.isRepeated ? 0 : 1
      const done = nameOf(lease.runId, key, permit.expect)
      if (!approved.has(done)) expect.fail(`${done} began without a word (seed ${SEED})`)
      continue
    }
    const items = await store.listApprovalItems({ approval: open.id, limit: 100 })
    const last = pick(items)
    const only = random() < 0.3 ? [{ from: 1 + Math.floor(random() * items.length), to: items.length + 2 }] : null
    const verdict = random() < 0.8 ? 'approved' : 'denied'
    const about = { approval: open.id, actor: 'anna', reason: null, answer: null, signature: null } as const
    const decided = await store.decideApproval({ ...about, verdict, hash: last.hash, only }, now).catch(() => null)
    if (decided?.status !== 'approved') continue
    const isMeant = (number: number) => number <= last.number && (only?.some(({ from }) => number >= from) ?? true)
    for (const { number, state, runId, step, asked } of items) {
      if (state === 'open' && isMeant(number)) approved.add(nameOf(runId, step, asked))
    }
  }
  return began
}

describe.each(DATABASES)('on %s', (database) => {
  const share = SHARES[database]

  test(
    `no delete passes any limit in random asks, whatever the clock does (seed ${SEED})`,
    () => inFreshStore(database, (store) => askAtRandom(store, share)),
    120_000,
  )

  test(`no effect begins outside an approved list in random histories (seed ${SEED})`, async () => {
    const random = seededRandom(SEED)
    let began = 0
    for (let history = 0; history < 10_000 * share; history += BESIDE) {
      await inFreshStore(database, async (store) => {
        const leases = await makeRuns(store, 3)
        for (let n = 0; n < BESIDE; n++) began += await runHistory(store, leases, `account-${n}`, random)
      })
    }
    expect(began).toBeGreaterThan(1_000 * share)
  }, 120_000)
})
