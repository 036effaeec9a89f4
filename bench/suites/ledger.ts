import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { verifyLedger } from '../../src/core/safety/ledger/verify-ledger.ts'
import type { EffectFilter } from '../../src/core/store/effects.ts'
import { searchPage } from '../../src/core/store/search.ts'
import type { Store } from '../../src/core/store/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { momentOf, pathOf, prefillLedger, runOf } from '../prefill/prefill-ledger.ts'
import { type Goal, judge, percentile, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = {
  ofMs: { atMost: 20 },
  listMs: { atMost: 50 },
  exportMb: { atMost: 300 },
  verifyRowsPerSecond: { atLeast: 200_000 },
} as const satisfies Record<string, Goal>

/** Rows that are sealed and verified; a longer ledger takes as many times longer. */
const SEALED = 1_000_000
const ROWS_A_SEAL = 1_000
const LOOKUPS = 2_000
/** Pages of a list, for each filter. */
const PAGES = 50
/** Rows that are exported. */
const EXPORTED = 1_000_000
const TELL_PEAK = new URL('../processes/tell-peak.ts', import.meta.url).href
const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** The history of a file in a ledger of many rows, and the speed at which its chain is verified. */
export const ledger: Suite = {
  names: ['ledger.ofMs', 'ledger.listMs', 'ledger.exportMb', 'ledger.verifyRowsPerSecond', 'ledger.sealMicrosPerRow'],
  isSlow: true,
  run: runLedger,
}

async function runLedger(bench: Bench): Promise<Result[]> {
  const rows = bench.ledgerRows ?? (bench.isQuick ? 1_000_000 : 10_000_000)
  const root = join(bench.folder, 'ledger')
  mkdirSync(join(root, 'data'), { recursive: true })
  const file = join(root, 'data/upshot.db')
  const begunAt = performance.now()
  prefillLedger(file, rows)
  bench.say(`  ${rows} rows prefilled in ${((performance.now() - begunAt) / 1_000).toFixed(1)} s`)
  const store = openSqliteStore({ file, vaultKey: Buffer.alloc(32, 1) })
  try {
    await bench.patience.waitForCalm()
    const ofMs = percentile(await measureLookups(store, rows), 0.99)
    bench.say(`  everything about a file in ${ofMs.toFixed(3)} ms at the most, for 99 of 100 files`)
    const listMs = await measureLists(bench, store, rows)
    const exportMb = await measureExport(root, rows)
    bench.say(`  ${Math.min(rows, EXPORTED)} rows exported with ${Math.round(exportMb)} MB`)
    const sealed = Math.min(rows, bench.isQuick ? SEALED / 5 : SEALED)
    const sealMicros = await measureSealing(store, sealed)
    const verifyRowsPerSecond = await measureVerification(store)
    return [
      judge('ledger.ofMs', ofMs, 'ms (p99)', GOALS.ofMs),
      judge('ledger.listMs', listMs, 'ms (p99)', GOALS.listMs),
      judge('ledger.exportMb', exportMb, 'MB', GOALS.exportMb),
      judge('ledger.verifyRowsPerSecond', verifyRowsPerSecond, 'rows/s', GOALS.verifyRowsPerSecond),
      judge('ledger.sealMicrosPerRow', sealMicros, 'µs'),
    ]
  } finally {
    await store.close()
    rmSync(root, { recursive: true, force: true })
  }
}

/** As `effects of` asks: rows of the path, then those of the targets that had it. */
async function measureLookups(store: Store, rows: number): Promise<number[]> {
  const pairs = Math.floor(rows / 2)
  const times: number[] = []
  for (let n = 0; n < LOOKUPS; n++) {
    const path = pathOf(Math.floor((n / LOOKUPS) * pairs), pairs)
    const begunAt = performance.now()
    const byPath = await store.listEffects({ path, limit: 1_000 })
    const target = byPath[0]?.target ?? ''
    const byTarget = await store.listEffects({ target, limit: 1_000 })
    times.push(performance.now() - begunAt)
    if (byPath.length !== 2 || byTarget.length !== 2) throw new Error(`${path} has not two rows`)
  }
  return times
}

/** As `effects list` reads a page. The last filter matches nothing: one slice of it is read. */
async function measureLists(bench: Bench, store: Store, rows: number): Promise<number> {
  const lastHour = { since: momentOf(rows - 3_600), outcome: 'failed' }
  const filters: [string, EffectFilter, number][] = [
    ['of all', {}, Infinity],
    ['of a rare workflow', { workflow: 'rare' }, Infinity],
    ['of a run', { runId: runOf(Math.floor(rows / 4)) }, Infinity],
    ['of the failed ones of a while', lastHour, Infinity],
    ['of a slice without a match', { account: 'nobody' }, 0],
  ]
  let worst = 0
  for (const [name, filter, budgetMs] of filters) {
    const times: number[] = []
    for (let n = 0; n < PAGES; n++) {
      const begunAt = performance.now()
      const bounds = { limit: 20, budgetMs, now: () => performance.now() }
      const page = await searchPage((slice) => store.searchEffects(filter, slice), bounds)
      times.push(performance.now() - begunAt)
      if (budgetMs > 0 && page.items.length < 20 && !page.searched.isComplete) throw new Error(`${name}: a short page`)
    }
    const ms = percentile(times, 0.99)
    bench.say(`  a page ${name} in ${ms.toFixed(3)} ms at the most`)
    worst = Math.max(worst, ms)
  }
  return worst
}

/** Most memory of `effects export`, whose reader takes what it writes. */
async function measureExport(root: string, rows: number): Promise<number> {
  const since = new Date(momentOf(Math.max(0, rows - EXPORTED))).toISOString()
  const args = ['--import', TELL_PEAK, CLI, 'effects', 'export', '--since', since]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let [lines, told] = [0, '']
  child.stdout.on('data', (chunk: Buffer) => {
    lines += chunk.reduce((count, byte) => count + Number(byte === 10), 0)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    told += chunk
  })
  const [code] = await once(child, 'close')
  if (code !== 0 || lines !== Math.min(rows, EXPORTED)) throw new Error(`${lines} lines were exported: ${told}`)
  return Number(told.trim().split('\n').at(-1))
}

async function measureSealing(store: Store, rows: number): Promise<number> {
  const begunAt = performance.now()
  for (let sealed = 0; sealed < rows; sealed += ROWS_A_SEAL) {
    await store.sealEffects({ now: Date.now(), limit: ROWS_A_SEAL })
  }
  return ((performance.now() - begunAt) * 1_000) / rows
}

async function measureVerification(store: Store): Promise<number> {
  const begunAt = performance.now()
  const report = await verifyLedger(store)
  if (!report.passed) throw new Error(`the chain is broken: ${report.faults[0]}`)
  return report.effects / ((performance.now() - begunAt) / 1_000)
}
