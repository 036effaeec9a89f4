import Database from 'better-sqlite3'
import type { Notice } from '../../src/core/notices.ts'
import { planOnce } from '../../src/core/service/plan-schedule.ts'
import type { Store } from '../../src/core/store/store.ts'
import { systemClock } from '../../src/core/time.ts'
import { Scheduler } from '../../src/schedule/scheduler.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { answerCalls } from '../processes/answer-calls.ts'

/** Many schedules of one moment, some of them due in the same second, and two schedulers. */
const HOUR = 3_600_000

/** Milliseconds from the moment to the last tick, and ticks that were told. */
export interface Fired {
  ms: number
  told: number
  runs: number
}

let file: string
const stores: Store[] = []

answerCalls({
  /** `others` are due in years. */
  async open({ file: path, others }: { file: string; others: number }): Promise<void> {
    file = path
    const vaultKey = Buffer.alloc(32)
    stores.push(openThreadedStore({ file, vaultKey }), openThreadedStore({ file, vaultKey }))
    await fill('o', others, Date.now() + 10_000 * HOUR)
  },
  async fire(count: number): Promise<Fired> {
    const at = Date.now() + 1_500
    await fill(`d${at}-`, count, at)
    let told = 0
    const last = Promise.withResolvers<number>()
    const publish = (notice: Notice) => {
      if (notice.kind === 'tick.recorded' && ++told === count) last.resolve(Date.now())
    }
    const schedulers = stores.map((store) => new Scheduler({ store, clock: systemClock, publish }))
    for (const scheduler of schedulers) scheduler.start()
    const endedAt = await last.promise
    await Promise.all(schedulers.map((scheduler) => scheduler.stop()))
    return { ms: endedAt - at, told, runs: countRuns(at) }
  },
  async close(): Promise<void> {
    for (const store of stores) await store.close()
  },
})

/** Written past the store, as the time of writing is no part of the result. */
async function fill(prefix: string, count: number, at: number): Promise<void> {
  const db = new Database(file, { timeout: 30_000 })
  const plan = JSON.stringify(planOnce(at))
  const insert = db.prepare(
    `INSERT INTO schedule (id, name, owner, made_by, workflow, plan, input, created_at, started_at, looked_at, next_at)
     VALUES (?, ?, 'person', 'bench', 'mirror', ?, '{}', 0, ?, 0, ?)`,
  )
  db.transaction(() => {
    for (let n = 0; n < count; n++) insert.run(`sch_${prefix}${n}`, `${prefix}${n}`, plan, at - 1, at)
  })()
  db.close()
}

function countRuns(at: number): number {
  const db = new Database(file, { timeout: 30_000 })
  const runs = db.prepare('SELECT count(*) FROM run WHERE tick_at = ?').pluck().get(at) as number
  db.close()
  return runs
}
