import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { NewSchedule } from '../../src/core/runs/schedule.ts'
import { planCron, planOnce } from '../../src/core/service/plan-schedule.ts'
import type { Store } from '../../src/core/store/store.ts'
import { DATABASES, inDatabase, silenceWorkers } from '../support/databases.ts'
import { saveLine } from '../support/lines.ts'
import { inStore, type Place } from '../support/open-place.ts'
import { bundledProgram } from '../support/program.ts'
import { LINES, PARTS } from './annotations-scenario.ts'

/** `UPSHOT_TEST_SCHEDULES=2000 UPSHOT_TEST_KILLS=20` for a long siege. */
const SCHEDULES = Number(process.env.UPSHOT_TEST_SCHEDULES ?? 90)
const KILLS = Number(process.env.UPSHOT_TEST_KILLS ?? 3)
/** Moments of the backfill, and how long the others lie apart. */
const FILLED = Math.ceil(SCHEDULES / 3)
const APART_MS = 20
const LINE = planCron('0 * * * *')
const FROM = Date.parse('2026-01-01T00:00Z')
const HOUR = 3_600_000

const child = bundledProgram(join(import.meta.dirname, 'annotations-process.ts'))

async function startOne(place: Place): Promise<ChildProcess> {
  const started = fork(child, [JSON.stringify(place)], { execArgv: [] })
  onTestFinished(() => void started.kill('SIGKILL'))
  const [said] = await Promise.race([once(started, 'message'), once(started, 'exit')])
  expect(said).toBe('started')
  return started
}

async function addSchedules(store: Store): Promise<void> {
  const now = Date.now()
  const add = (id: string, n: number | null, plan: NewSchedule['plan']) => {
    const about = { id: `sch_${id}`, name: id, owner: 'person', madeBy: 'ann', workflow: 'mirror' } as const
    return store.addSchedule({ ...about, plan, input: n === null ? null : JSON.stringify({ n }) }, now)
  }
  for (let n = 0; n < SCHEDULES; n++) await add(`once-${n}`, n, planOnce(now + n * APART_MS))
  await add('hourly', SCHEDULES, planCron('0 0 29 2 *'))
  for (const id of LINES) await saveLine(store, id, now, { line: '* * * * * *', catchUp: 'all', overlap: 'allow' })
  const to = FROM + FILLED * HOUR - 1
  await add('fill', null, { kind: 'backfill', of: 'sch_hourly', line: LINE, from: FROM, to, perMinute: 6_000 })
}

/** Each second from the first tick of a line in code to its last has one run, which has ended. */
async function expectEverySecond(store: Store, id: string): Promise<void> {
  const runs = await store.listRuns({ workflow: id, limit: 10_000 })
  const moments = runs.map(({ tickAt }) => tickAt ?? 0).sort((one, other) => one - other)
  const [first = 0] = moments
  expect(first).toBeGreaterThan(0)
  expect(moments).toEqual(moments.map((_, index) => first + index * 1_000))
  expect(runs.filter(({ status, output }) => status !== 'completed' || output !== '"tick"')).toEqual([])
}

/** Its runs in the order of their inputs; those of the backfill come last, by their moments. */
async function listTold(store: Store) {
  const runs = await store.listRuns({ workflow: 'mirror', limit: 2 * (SCHEDULES + FILLED) })
  const rank = (run: (typeof runs)[number]) => [Number(run.output), run.tickAt ?? 0] as const
  return runs.toSorted((one, other) => {
    const [[n, at], [otherN, otherAt]] = [rank(one), rank(other)]
    return n - otherN || at - otherAt
  })
}

test.each(DATABASES)(
  'two schedulers under SIGKILL make each tick once, also of lines in code and a backfill: %s',
  (database) =>
    inDatabase(database, (place) =>
      inStore(place, async (store) => {
        await addSchedules(store)
        const living = await Promise.all([startOne(place), startOne(place)])
        const due = SCHEDULES + FILLED
        const countEnded = async () =>
          (await store.listRuns({ workflow: 'mirror', status: 'completed', limit: due })).length
        for (let kill = 1; kill <= KILLS; kill++) {
          while ((await countEnded()) < (due * kill) / (KILLS + 1)) await pause(20)
          const victim = living.shift()
          victim?.kill('SIGKILL')
          living.push(await startOne(place))
          await silenceWorkers(place)
        }
        while ((await countEnded()) < due || (await store.findSchedule('fill'))?.doneAt == null) await pause(20)
        for (const id of LINES) await store.pauseSchedule(id, true, Date.now())
        for (const id of LINES) while ((await store.findSchedule(id))?.unfinished !== 0) await pause(20)
        for (const each of living) each.kill('SIGKILL')

        for (const id of LINES) await expectEverySecond(store, id)
        const runs = await listTold(store)
        expect(runs).toHaveLength(due)
        const moments = runs.slice(SCHEDULES).map(({ tickAt }) => tickAt)
        expect(moments).toEqual(Array.from({ length: FILLED }, (_, hour) => FROM + hour * HOUR))
        for (const [index, { status, output, tags, progress }] of runs.entries()) {
          const n = `${Math.min(index, SCHEDULES)}`
          const parts = Array.from({ length: PARTS }, (_, part) => [`part-${part + 1}`, n])
          expect({ status, output, tags, progress }).toMatchObject({
            status: 'completed',
            output: n,
            tags: { n, ...Object.fromEntries(parts) },
            progress: { done: PARTS, total: PARTS },
          })
        }
      }),
    ),
  300_000 + SCHEDULES * 100,
)
