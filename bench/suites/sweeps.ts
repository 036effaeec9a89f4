import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beginSweep, newState } from '../../src/core/service/sweep/sweep-state.ts'
import type { Store } from '../../src/core/store/store.ts'
import type { KeptSweep } from '../../src/core/store/sweeps.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { type Goal, judge, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = {
  millionMb: { atMost: 200 },
  pageMs: { atMost: 25 },
} as const satisfies Record<string, Goal>

const KEY = { account: 'default', storage: 'storage_a' } as const
const PLAN = { ...KEY, path: '/', recursive: true, everyMs: 1, budget: 0.1, graceMs: 1, repair: 'report' } as const

const MILLION = 1_000_000
const FILES = { once: 10_000, quick: 100_000, full: MILLION }
/** Entries of a page of the service. */
const PAGE = 100

/** The disk and the time that a million known files take. */
export const sweeps: Suite = {
  names: ['sweeps.millionMb', 'sweeps.pageMs'],
  run: runSweeps,
}

async function runSweeps(bench: Bench): Promise<Result[]> {
  const files = FILES[bench.size]
  const root = join(bench.folder, 'sweeps')
  mkdirSync(root, { recursive: true })
  const file = join(root, 'upshot.db')
  const store = openSqliteStore({ file, vaultKey: Buffer.alloc(32, 1) })
  try {
    await bench.patience.waitForCalm()
    const empty = statSync(file).size
    const begunAt = performance.now()
    await sweepAll(store, files)
    const pageMs = ((performance.now() - begunAt) * PAGE) / files
    await store.close()
    const millionMb = ((statSync(file).size - empty) * MILLION) / files / 1_000_000
    bench.say(`  ${files} known files, of which a million take ${Math.round(millionMb)} MB`)
    return [
      judge('sweeps.millionMb', millionMb, 'MB', GOALS.millionMb),
      judge('sweeps.pageMs', pageMs, 'ms', GOALS.pageMs),
    ]
  } finally {
    await store.close()
    rmSync(root, { recursive: true, force: true })
  }
}

/** Ids come in the order of creation, as a listing has them. */
async function sweepAll(store: Store, files: number): Promise<void> {
  let kept: KeptSweep = { ...KEY, state: beginSweep(newState(PLAN, null), 0), version: 0, forgottenTo: null }
  if (!(await store.saveSweep(kept))) throw new Error('another process sweeps')
  kept = { ...kept, version: 1 }
  for (let first = 0; first < files; first += PAGE) {
    const entries = Array.from({ length: PAGE }, (_, index) => listed(first + index))
    const nextPage = first + PAGE < files ? first / PAGE + 2 : null
    const page = { entries: PAGE, totalItems: files, nextPage, nextToken: null, passedOver: 0 }
    const saved = await store.savePage(kept, page, entries, first)
    if (saved === null) throw new Error('another process sweeps')
    kept = saved
  }
  if (kept.state.files !== files) throw new Error(`${kept.state.files} files were seen`)
}

/** An id of 23 characters, a path of 50. */
function listed(number: number) {
  const at = Date.UTC(2026, 0, 1) + number * 1_000
  const word = ((number * 2_654_435_761) % 2 ** 32).toString(36).padStart(14, 'x')
  const id = `1kt${number.toString(36).padStart(6, '0')}${word}`
  const folder = `/projects/${String(number % 5_000).padStart(5, '0')}/recordings`
  const path = `${folder}/camera-${String(number).padStart(9, '0')}.mxf`
  return { file: id, path, size: 1_000_000 + number, createdAt: at, modifiedAt: at, isFolder: false }
}
