import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { verifyLedger } from '../../src/core/safety/verify-ledger.ts'
import type { Store } from '../../src/core/store/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { pathOf, prefillLedger } from '../prefill/prefill-ledger.ts'
import { type Goal, judge, percentile, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = { ofMs: { atMost: 20 }, verifyRowsPerSecond: { atLeast: 200_000 } } as const satisfies Record<
  string,
  Goal
>

/** Rows that are sealed and verified; a longer ledger takes as many times longer. */
const SEALED = 1_000_000
const ROWS_A_SEAL = 1_000
const LOOKUPS = 2_000

/** The history of a file in a ledger of many rows, and the speed at which its chain is verified. */
export const ledger: Suite = {
  names: ['ledger.ofMs', 'ledger.verifyRowsPerSecond', 'ledger.sealMicrosPerRow'],
  run: runLedger,
}

async function runLedger(bench: Bench): Promise<Result[]> {
  const rows = bench.ledgerRows ?? (bench.isQuick ? 1_000_000 : 10_000_000)
  const file = join(bench.folder, 'ledger.db')
  const begunAt = performance.now()
  prefillLedger(file, rows)
  bench.say(`  ${rows} rows prefilled in ${((performance.now() - begunAt) / 1_000).toFixed(1)} s`)
  const store = openSqliteStore({ file, vaultKey: Buffer.alloc(32, 1) })
  try {
    await bench.patience.waitForCalm()
    const ofMs = percentile(await measureLookups(store, rows), 0.99)
    bench.say(`  everything about a file in ${ofMs.toFixed(3)} ms at the most, for 99 of 100 files`)
    const sealed = Math.min(rows, bench.isQuick ? SEALED / 5 : SEALED)
    const sealMicros = await measureSealing(store, sealed)
    const verifyRowsPerSecond = await measureVerification(store)
    return [
      judge('ledger.ofMs', ofMs, 'ms (p99)', GOALS.ofMs),
      judge('ledger.verifyRowsPerSecond', verifyRowsPerSecond, 'rows/s', GOALS.verifyRowsPerSecond),
      judge('ledger.sealMicrosPerRow', sealMicros, 'µs'),
    ]
  } finally {
    await store.close()
    for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
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
