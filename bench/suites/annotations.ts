import { join } from 'node:path'
import type { RunFilter } from '../../src/core/runs/run.ts'
import type { Store } from '../../src/core/store/store.ts'
import { prefillTagged } from '../prefill/prefill-runs.ts'
import { openStore, type StorePlace } from '../processes/open-store.ts'
import { judge, median, percentile, type Result } from '../report/result.ts'
import { inTurn, measureRounds } from '../report/rounds.ts'
import { startServer } from './postgres/bench-server.ts'
import { fillTagged } from './postgres/rows.ts'
import type { Bench, Suite } from './suite.ts'

/** Progress and tags: the price of saying how far a map is, and lists of tagged runs. */
export const annotations: Suite = {
  names: [
    'annotations.mapVsSilent',
    'annotations.mapMicros',
    'annotations.listMs',
    'annotations.listP99Ms',
    'annotations.listMsPostgres',
    'annotations.listP99MsPostgres',
  ],
  isSlow: true,
  run: async (bench) => [...(await runMaps(bench)), ...(await runLists(bench)), ...(await runServerLists(bench))],
}

const GOALS = { mapVsSilent: { atMost: 1.02 }, listMs: { atMost: 20 } } as const

/** One write costs less than the noise of a machine: it is made so often, to be seen. */
const LOUDER = 50

/** The same map in one process that writes its progress, and in one that does not. */
async function runMaps(bench: Bench): Promise<Result[]> {
  const items = bench.isQuick ? 2_000 : 10_000
  await using loud = bench.startTarget('engine.ts')
  await using silent = bench.startTarget('engine.ts')
  const rivals = { loud, silent }
  for (const [name, target] of Object.entries(rivals)) {
    const file = join(bench.folder, `told-${name}.db`)
    await target.call('open', { file, slots: 10, words: name === 'silent' ? 0 : LOUDER })
    // V8 takes some seconds to optimize this code.
    for (let warmUp = 0; warmUp < 2; warmUp++)
      await target.call('cpuMsOfRun', { workflow: 'map-of-many', input: items })
  }
  const rounds = bench.quickRounds ?? { min: 9, max: 15 }
  const figures = await measureRounds(rounds, { mapVsSilent: GOALS.mapVsSilent }, async (round) => {
    await bench.patience.waitForCalm()
    const ms = { loud: 0, silent: 0 }
    for (const rival of inTurn(['loud', 'silent'] as const, round)) {
      ms[rival] = await rivals[rival].call<number>('cpuMsOfRun', { workflow: 'map-of-many', input: items })
    }
    const mapVsSilent = 1 + (ms.loud / ms.silent - 1) / LOUDER
    return { mapVsSilent, mapMicros: (ms.silent * mapVsSilent * 1_000) / items }
  })
  return [
    judge('annotations.mapVsSilent', figures.mapVsSilent, 'ratio', GOALS.mapVsSilent),
    judge('annotations.mapMicros', figures.mapMicros, 'µs'),
  ]
}

/** Rare and common tags, alone, together, and beside other filters. */
const FILTERS: Record<string, RunFilter> = {
  'a customer of 1,000': { tags: [['customer', 'c7']] },
  'a region of ten': { tags: [['region', 'r3']] },
  both: {
    tags: [
      ['region', 'r7'],
      ['customer', 'c7'],
    ],
  },
  'both, never together': {
    tags: [
      ['region', 'r3'],
      ['customer', 'c7'],
    ],
  },
  'of a day, completed': { tags: [['region', 'r3']], status: 'completed', workflow: 'measured' },
  'no such tag': { tags: [['customer', 'nobody']] },
}

async function runLists(bench: Bench): Promise<Result[]> {
  const file = join(bench.folder, 'annotations-lists.db')
  prefillTagged(file, countOf(bench))
  return measureLists(bench, { file }, '')
}

async function runServerLists(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  const place = { urls: [server.url], schema: 'annotations' }
  await (await openStore(place)).close()
  await fillTagged(server, place.schema, countOf(bench))
  return await measureLists(bench, place, 'Postgres')
}

function countOf({ isQuick }: Bench): number {
  return isQuick ? 100_000 : 1_000_000
}

async function measureLists(bench: Bench, place: StorePlace, suffix: string): Promise<Result[]> {
  const store = await openStore(place)
  const medians: number[] = []
  const all: number[] = []
  try {
    for (const [name, filter] of Object.entries(FILTERS)) {
      await bench.patience.waitForCalm()
      const times = await timeLists(store, filter, bench.isQuick ? 20 : 100)
      const { items } = await store.searchRuns(filter, { rows: 5_000, limit: 50, after: null })
      bench.say(`  ${items.length} found`)
      medians.push(median(times))
      all.push(...times)
      bench.say(`  ${name}, among ${countOf(bench)} runs: ${median(times).toFixed(1)} ms`)
    }
  } finally {
    await store.close()
  }
  return [
    judge(`annotations.listMs${suffix}`, Math.max(...medians), 'ms', GOALS.listMs),
    judge(`annotations.listP99Ms${suffix}`, percentile(all, 0.99), 'ms'),
  ]
}

/** The first page, as a person asks for it. */
async function timeLists(store: Store, filter: RunFilter, times: number): Promise<number[]> {
  const list = () => store.searchRuns(filter, { rows: 5_000, limit: 50, after: null })
  await list()
  const taken: number[] = []
  for (let each = 0; each < times; each++) {
    const begunAt = performance.now()
    await list()
    taken.push(performance.now() - begunAt)
  }
  return taken
}
