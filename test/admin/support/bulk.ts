import { join } from 'node:path'
import Database from 'better-sqlite3'
import { BulkRunner } from '../../../src/admin/operations/bulk-runner.ts'
import { newId } from '../../../src/core/ids.ts'
import type { ReplayPlan, RunBulkPlan } from '../../../src/core/safety/bulk.ts'
import type { Store } from '../../../src/core/store/store.ts'
import type { ManualClock } from '../../../src/core/time.ts'
import { incoming } from '../../support/fixtures.ts'

/** Writes runs that wait to be claimed, or have failed, without a worker. */
export function makeRuns(folder: string, count: number, status: 'pending' | 'failed', now: number): string[] {
  const db = new Database(join(folder, 'upshot.db'))
  const insert = db.prepare(`INSERT INTO run (id, workflow, created_at) VALUES (?, 'w', ?)`)
  const queue = db.prepare(`INSERT INTO work (run_id, workflow, status, started_at) VALUES (?, 'w', ?, ?)`)
  const end = db.prepare(
    `INSERT INTO outcome (run_id, workflow, status, rank, fence, attempt, started_at, finished_at, error)
     VALUES (?, 'w', ?, 0, 0, 0, ?, ?, ?)`,
  )
  const error = status === 'failed' ? JSON.stringify({ name: 'Error', message: 'no' }) : null
  const ids = Array.from({ length: count }, (_, index) => newId('run', now - count + index))
  db.transaction(() => {
    for (const id of ids) {
      insert.run(id, now)
      if (status === 'failed') end.run(id, status, now, now, error)
      else queue.run(id, status, now)
    }
  })()
  db.close()
  return ids
}

/** Cancels a run as a rule of its workflow does, so that no retry helps it. */
export function cancelByRule(folder: string, run: string): void {
  const db = new Database(join(folder, 'upshot.db'))
  db.prepare(`UPDATE outcome SET status = 'canceled', by_rule = 1, reason = 'too late' WHERE run_id = ?`).run(run)
  db.close()
}

export function planCancel(now: number, given: Partial<RunBulkPlan> = {}): RunBulkPlan {
  return {
    id: newId('opr', now),
    kind: 'cancel',
    filter: { status: 'pending' },
    operator: { actor: 'web:ada', role: 'operator', from: '127.0.0.1', reason: 'a test' },
    perSecond: null,
    createdAt: now,
    ...given,
  }
}

/** Events, one a second, the last one at `now`. */
export async function makeEvents(
  store: Store,
  count: number,
  { now, workflows = [] }: { now: number; workflows?: string[] },
): Promise<void> {
  const all = Array.from({ length: count }, (_, index) =>
    incoming(`evt_${index}`, { receivedAt: now - (count - 1 - index) * 1_000, workflows }),
  )
  await Promise.all(all.map((delivery) => store.saveDelivery(delivery)))
}

/** Starts two workflows for each event that is older than `now`. */
export function planReplay(now: number, given: Partial<ReplayPlan> = {}): ReplayPlan {
  const routes = ['one', 'two'].map((workflow) => ({ eventType: 'file.created', workflow }))
  return { ...planCancel(now), kind: 'replay', filter: { until: now }, routes, ...given }
}

/** A process that works on operations; the result stops it. */
export function startRunner(store: Store, clock: ManualClock): BulkRunner {
  const publish = (notice: { kind: string }) => {
    if (notice.kind === 'fault') throw new Error(JSON.stringify(notice))
  }
  const runner = new BulkRunner({ store, clock, publish })
  runner.wake()
  return runner
}

/** Moves the clock in steps of 50 ms until the operation is over; at most ten minutes. */
export async function workUntilOver(store: Store, clock: ManualClock, id: string): Promise<void> {
  for (let step = 0; step < 12_000; step++) {
    const operation = await store.findBulk(id)
    if (operation?.endedAt != null) return
    clock.advance(50)
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`operation ${id} is not over after ten minutes`)
}

/** The store of a process that dies at its `dies`-th call: before it, or after it took effect. */
export function doomStore(store: Store, dies: number, moment: 'before' | 'after') {
  let calls = 0
  let underWay: Promise<unknown> = Promise.resolve()
  const dead = Promise.withResolvers<void>()
  const never = new Promise<never>(() => {})
  const doom =
    (call: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      calls += 1
      if (calls > dies || (calls === dies && moment === 'before')) {
        dead.resolve()
        return never
      }
      underWay = call(...args)
      const result = await underWay
      if (calls < dies) return result
      dead.resolve()
      return never
    }
  const doomed = Object.fromEntries(
    Object.entries(store).map(([name, call]) => [name, typeof call === 'function' ? doom(call) : call]),
  )
  return { store: doomed as unknown as Store, dead: dead.promise, calls: () => calls, settled: () => underWay }
}
