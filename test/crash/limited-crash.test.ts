import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { awaitRuns } from '../support/await-runs.ts'
import type { Moment } from './doom.ts'
import { dieAtEveryCall } from './every-call.ts'
import { createLimitedWorker, EVENT_IDS, readLines, storeEvents } from './limited-scenario.ts'

const CHILD = join(import.meta.dirname, 'doomed-worker.ts')

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'upshot-crash-'))
  await inStore(join(folder, 'events'), storeEvents)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each<Moment>(['asked', 'answered'])(
  'a worker killed at every store call, once the store was %s, folds, limits and throttles each event once',
  async (moment) => {
    const survivedAt = await dieAtEveryCall((call) => surviveCrash(moment, call))
    // The scenario makes enough calls to be a test; the last life made no call to die at.
    expect(survivedAt).toBeGreaterThan(25)
  },
  600_000,
)

/**
 * Lets a worker die at the n-th call, starts a second one, and checks the database. Returns true
 * when the first lived to its end.
 */
async function surviveCrash(moment: Moment, call: number): Promise<boolean> {
  const dataDir = join(folder, `${moment}-${call}`)
  cpSync(join(folder, 'events'), dataDir, { recursive: true })
  const child = fork(CHILD, [dataDir, moment, String(call)], {
    execArgv: [],
  })
  const [code] = await once(child, 'exit')
  await inStore(dataDir, async (store) => {
    await liveOn(dataDir, store)
    await checkEverything(dataDir, store)
  })
  rmSync(dataDir, { recursive: true, force: true })
  return code === 0
}

async function inStore(dataDir: string, act: (store: Store) => Promise<void>): Promise<void> {
  const store = openSqliteStore({ file: join(dataDir, 'upshot.db'), vaultKey: Buffer.alloc(32) })
  await act(store)
  await store.close()
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
