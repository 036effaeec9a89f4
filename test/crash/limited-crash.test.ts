import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { awaitRuns } from '../support/await-runs.ts'
import { DATABASES, type DatabaseName, inDatabase, silenceWorkers } from '../support/databases.ts'
import { inStore } from '../support/open-place.ts'
import { bundledProgram } from '../support/program.ts'
import { tempFolder } from '../support/temp-folder.ts'
import type { Moment } from './doom.ts'
import { dieAtEveryCall } from './every-call.ts'
import { createLimitedWorker, EVENT_IDS, readLines, storeEvents } from './limited-scenario.ts'

const CHILD = bundledProgram(join(import.meta.dirname, 'doomed-worker.ts'))

describe.each(DATABASES)('on %s', (database) => {
  test.each<Moment>(['asked', 'answered'])(
    'a worker killed at every store call, once the store was %s, folds, limits and throttles each event once',
    async (moment) => {
      // A life takes seconds, so that each run of the suite tries some of the calls.
      const every = database === 'SQLite' ? 10 : 40
      const survivedAt = await dieAtEveryCall((call) => surviveCrash(database, moment, call), every)
      // The scenario makes enough calls to be a test; the last life made no call to die at.
      expect(survivedAt).toBeGreaterThan(25)
    },
    600_000,
  )
})

/**
 * Lets a worker die at the n-th call, starts a second one, and checks the database. Returns true
 * when the first lived to its end.
 */
function surviveCrash(database: DatabaseName, moment: Moment, call: number): Promise<boolean> {
  const folder = tempFolder()
  return inDatabase(database, async (place) => {
    await inStore(place, storeEvents)
    const child = fork(CHILD, [JSON.stringify(place), folder, moment, String(call)], { execArgv: [] })
    const [code] = await once(child, 'exit')
    await silenceWorkers(place)
    await inStore(place, async (store) => {
      await liveOn(folder, store)
      await checkEverything(folder, store)
    })
    return code === 0
  })
}

async function liveOn(dataDir: string, store: Store): Promise<void> {
  const notices = createNoticeBus()
  const worker = createLimitedWorker(dataDir, 'second', store, notices)
  await worker.start()
  await awaitRuns({ store, notices }, (runs) => runs.every((run) => run.finishedAt !== null))
  await worker.stop()
}

async function checkEverything(dataDir: string, store: Store): Promise<void> {
  const runs = await store.listRuns({ limit: 100 })
  expect(runs).toHaveLength(EVENT_IDS.length * 4)
  for (const workflow of ['digest', 'latest', 'narrow', 'single']) {
    const mine = runs.filter((run) => run.workflow === workflow)
    const completed = mine.filter((run) => run.status === 'completed')
    const events = await Promise.all(completed.map((run) => store.listRunEvents(run.id)))
    expect(
      events
        .flat()
        .map((event) => event.id)
        .sort(),
    ).toEqual(EVENT_IDS)
    expect(mine.filter((run) => run.status !== 'completed' && run.foldedInto === null)).toEqual([])
  }
  const second = readLines(dataDir, 'second')
  expect(new Set(second).size).toBe(second.length)
  for (const life of [readLines(dataDir, 'first'), second]) checkOneAtATime(life)
  // Each of 3 narrow runs has 2 steps. The last step of the first life may be in both lives.
  const narrow = new Set([...readLines(dataDir, 'first'), ...second].filter((line) => /before|after/.test(line)))
  expect(narrow.size).toBe(EVENT_IDS.length * 2)
}

/** Of the runs behind a limit of one, the next begins once the one before has had its last step. */
function checkOneAtATime(life: readonly string[]): void {
  const steps = life.map((line) => line.split(' ')).filter(([, step]) => step === 'in' || step === 'out')
  for (const [index, [run, step]] of steps.entries()) {
    const [before, stepBefore] = steps[index - 1] ?? []
    if (step === 'in' && before !== undefined) expect([before === run, stepBefore]).toEqual([false, 'out'])
  }
}
