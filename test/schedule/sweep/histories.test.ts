import { expect, test } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { testVaultKey } from '../../support/test-store.ts'
import { SweepWorld } from './support/sweep-world.ts'

/** Random histories; a full proof sets 1000. */
const HISTORIES = Number(process.env.UPSHOT_SWEEP_HISTORIES ?? 25)
const FIRST = Number(process.env.UPSHOT_SWEEP_SEED ?? 40)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Repeats with its seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The truth about an event of a history. */
interface Truth {
  type: 'file.created' | 'file.deleted'
  file: string
  at: number
  isDropped: boolean
}

test.each(Array.from({ length: HISTORIES }, (_, index) => FIRST + index))(
  'history %i: no event that was told is called lost, and each lost one is found or not knowable',
  async (seed) => {
    const store = openSqliteStore({ file: ':memory:', vaultKey: testVaultKey })
    try {
      await live(seed, new SweepWorld(store, { repair: seed % 2 === 0 ? 'events' : 'report' }))
    } finally {
      await store.close()
    }
  },
)

async function live(seed: number, world: SweepWorld): Promise<void> {
  const random = randomFrom(seed)
  const truth: Truth[] = []
  const due: { at: number; send: () => Promise<void> }[] = []
  const rate = 0.02 + random() * 0.3
  let isQuiet = false

  const happen = (type: Truth['type'], file: string) => {
    const at = world.clock.now()
    const isDropped = random() < 0.15
    truth.push({ type, file, at, isDropped })
    if (isDropped) return
    // Up to the grace, and now and then twice.
    const delay = () => random() ** 3 * 80 * MINUTE
    const send = () => world.tell(type, file)
    due.push({ at: at + delay(), send })
    if (random() < 0.2) due.push({ at: at + delay(), send })
  }
  const change = () => {
    const ids = [...world.files.keys()]
    const chosen = ids[Math.floor(random() * ids.length)]
    const what = random()
    if (chosen === undefined || what < 0.45) {
      // Its date may be the file's own age: it then lands on an earlier page.
      const age = random() < 0.4 ? random() * 50 * HOUR : 0
      happen('file.created', world.add(world.clock.now() - age))
    } else if (what < 0.85) {
      world.files.delete(chosen)
      happen('file.deleted', chosen)
    } else {
      const file = world.files.get(chosen)
      if (file) world.files.set(chosen, { ...file, path: `/moved/${file.name}` })
    }
  }
  const settle = async () => {
    for (const each of due.splice(0)) {
      if (each.at > world.clock.now()) due.push(each)
      else await each.send()
    }
  }
  world.onRequest = async () => {
    if (!isQuiet && random() < rate) change()
    if (random() < 0.02) throw new Error('the service failed')
    if (random() < 0.01) {
      // Killed before the answer was saved; another process goes on.
      world.owner = `wrk_${Math.floor(random() * 1e6)}`
      throw new Error('killed')
    }
  }
  for (let n = Math.floor(random() * 30); n >= 0; n--) world.add(world.clock.now() - random() * 99 * HOUR)
  await world.run(8 * HOUR, async () => {
    if (random() < rate) change()
    await settle()
  })
  isQuiet = true
  await world.run(10 * HOUR, settle)
  await check(world, truth, seed)
}

async function check(world: SweepWorld, truth: readonly Truth[], seed: number): Promise<void> {
  const findings = await world.findings()
  const lost = new Set(truth.filter(({ isDropped }) => isDropped).map(({ type, file }) => `${type} ${file}`))
  const accused = findings.filter(({ state }) => state !== 'unclear')
  const wrong = accused.filter(({ type, file }) => !lost.has(`${type} ${file}`))
  expect(wrong, `seed ${seed}`).toEqual([])
  expect(world.busiestMinute, `seed ${seed}`).toBeLessThanOrEqual(6)
  const { state } = (await world.store.loadSweep('default', 'storage_a')) ?? {}
  const first = state?.complete[0]
  expect(state?.baseline, `seed ${seed}`).not.toBe(null)
  const found = new Set(findings.map(({ type, file }) => `${type} ${file}`))
  const missed = truth.filter(({ type, file, isDropped }) => isDropped && !found.has(`${type} ${file}`))
  // A file that came and went between two sweeps, and everything before the baseline, is unknown.
  const born = new Map(truth.flatMap(({ type, file, at }) => (type === 'file.created' ? [[file, at]] : [])))
  const died = new Map(truth.flatMap(({ type, file, at }) => (type === 'file.deleted' ? [[file, at]] : [])))
  const unexplained = missed.filter(({ type, file, at }) => {
    if (at <= (first?.endedAt ?? Infinity)) return false
    if (type === 'file.created') return !died.has(file)
    return (born.get(file) ?? 0) <= (first?.startedAt ?? 0)
  })
  expect(unexplained, `seed ${seed}`).toEqual([])
}
