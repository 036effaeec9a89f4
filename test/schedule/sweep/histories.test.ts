import { expect, test } from 'vitest'
import type { FileEntry } from '../../../src/core/service/file.ts'
import type { FileFinding } from '../../../src/core/service/sweep/judge-file.ts'
import type { CompleteSweep } from '../../../src/core/service/sweep/sweep-state.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { testVaultKey } from '../../support/test-store.ts'
import { SweepWorld } from './support/sweep-world.ts'

/** Random histories; a full proof sets 1000. */
const HISTORIES = Number(process.env.UPSHOT_SWEEP_HISTORIES ?? 25)
const FIRST = Number(process.env.UPSHOT_SWEEP_SEED ?? 40)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

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

/** Every third history takes weeks, in which files are forgotten and some come back. */
const isLong = (seed: number) => seed % 3 === 0

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
      const weeks = isLong(seed) ? { everyMs: DAY, graceMs: 36 * HOUR } : {}
      await live(seed, new SweepWorld(store, { ...weeks, repair: seed % 2 === 0 ? 'events' : 'report' }))
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
  const hour = isLong(seed) ? DAY : HOUR
  const dead: { at: number; entry: FileEntry }[] = []

  const happen = (type: Truth['type'], file: string) => {
    const at = world.clock.now()
    const isDropped = random() < 0.15
    truth.push({ type, file, at, isDropped })
    if (isDropped) return
    // Up to the grace, and now and then twice.
    const delay = () => random() ** 3 * 1.3 * hour
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
      const age = random() < 0.4 ? random() * 50 * hour : 0
      happen('file.created', world.add(world.clock.now() - age))
    } else if (what < 0.85) {
      const entry = world.files.get(chosen)
      if (entry !== undefined) dead.push({ at: world.clock.now(), entry })
      world.files.delete(chosen)
      happen('file.deleted', chosen)
    } else {
      const file = world.files.get(chosen)
      if (file) world.files.set(chosen, { ...file, path: `/moved/${file.name}` })
    }
  }
  /** As out of a bin: under its id and with its date, and no event tells. */
  const restore = () => {
    // Of a file from before the first sweep that nobody ever saw, nothing can be known.
    const isTold = (file: string) => truth.some((each) => each.file === file && each.type === 'file.created')
    const found = dead.findIndex(({ at, entry }) => at < world.clock.now() - 10 * DAY && isTold(entry.id))
    const [back] = found === -1 ? [] : dead.splice(found, 1)
    if (back !== undefined) world.files.set(back.entry.id, back.entry)
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
  for (let n = Math.floor(random() * 30); n >= 0; n--) world.add(world.clock.now() - random() * 99 * hour)
  await world.run(8 * hour, async () => {
    if (random() < rate) change()
    await settle()
  })
  isQuiet = true
  await world.run(10 * hour, settle)
  const first = (await world.store.loadSweep('default', 'storage_a'))?.state.complete[0]
  const pruned: FileFinding[] = []
  if (isLong(seed))
    await forget(world, pruned, async () => {
      if (random() < 0.1) restore()
      await settle()
    })
  await check(world, truth, { seed, first, pruned })
}

/**
 * Weeks in which files that are gone are forgotten, and some of them come back. Findings go, too:
 * `pruned` gets those of before.
 */
async function forget(world: SweepWorld, pruned: FileFinding[], meanwhile: () => Promise<void>): Promise<void> {
  for (let day = 0; day < 25; day++) {
    await world.run(DAY, meanwhile)
    const now = world.clock.now()
    pruned.push(...(await world.findings()))
    for (let after: string | null = ''; after !== null; )
      after = (await world.store.prune({ kind: 'files', before: now - 9 * DAY, now, limit: 50, after })).next
  }
}

async function check(
  world: SweepWorld,
  truth: readonly Truth[],
  { seed, first, pruned }: { seed: number; first: CompleteSweep | undefined; pruned: readonly FileFinding[] },
): Promise<void> {
  const findings = [...pruned, ...(await world.findings())]
  const lost = new Set(truth.filter(({ isDropped }) => isDropped).map(({ type, file }) => `${type} ${file}`))
  const accused = findings.filter(({ state }) => state !== 'unclear')
  const wrong = accused.filter(({ type, file }) => !lost.has(`${type} ${file}`))
  expect(wrong, `seed ${seed}`).toEqual([])
  expect(world.busiestMinute, `seed ${seed}`).toBeLessThanOrEqual(6)
  const { state } = (await world.store.loadSweep('default', 'storage_a')) ?? {}
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
