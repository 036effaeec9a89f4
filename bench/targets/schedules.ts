import type { Notice } from '../../src/core/notices.ts'
import { planOnce } from '../../src/core/service/plan-schedule.ts'
import type { Store } from '../../src/core/store/store.ts'
import { systemClock } from '../../src/core/time.ts'
import { Scheduler } from '../../src/schedule/scheduler.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import { openRows } from '../processes/open-rows.ts'
import { openStore, type StorePlace } from '../processes/open-store.ts'

/** Many schedules of one moment, some of them due in the same second, and two schedulers. */
const HOUR = 3_600_000

/** Milliseconds from the moment to the last tick, and ticks that were told. */
export interface Fired {
  ms: number
  told: number
  runs: number
}

const stores: Store[] = []
let rows: Awaited<ReturnType<typeof openRows>>

answerCalls({
  /** `others` are due in years. */
  async open({ place, others }: { place: StorePlace; others: number }): Promise<void> {
    stores.push(await openStore(place), await openStore(place))
    rows = await openRows(place)
    await fill('o', others, Date.now() + 10_000 * HOUR)
    await rows.query('ANALYZE')
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
    const [found] = await rows.query<{ runs: number | string }>(
      `SELECT count(*) AS runs FROM run WHERE tick_at = ${at}`,
    )
    return { ms: endedAt - at, told, runs: Number(found?.runs) }
  },
  async close(): Promise<void> {
    for (const store of stores) await store.close()
    await rows.close()
  },
})

async function fill(prefix: string, count: number, at: number): Promise<void> {
  const plan = JSON.stringify(planOnce(at))
  await rows.query(
    `INSERT INTO schedule (id, name, owner, made_by, workflow, plan, input, created_at, started_at, looked_at, next_at)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     SELECT 'sch_${prefix}' || i, '${prefix}' || i, 'person', 'bench', 'mirror', '${plan}', '{}', 0,
       ${at - 1}, 0, ${at} FROM n`,
  )
}
