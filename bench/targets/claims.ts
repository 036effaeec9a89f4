import { randomBytes } from 'node:crypto'
import type { Store } from '../../src/core/store/store.ts'
import { systemClock } from '../../src/core/time.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { answerCalls } from '../processes/answer-calls.ts'

/** Claims on stores without a writer thread, commit included. */
const WORKER = 'wrk_bench'
const vaultKey = randomBytes(32)
const stores = new Map<string, Store>()

async function openStore(file: string): Promise<Store> {
  const known = stores.get(file)
  if (known) return known
  const store = openSqliteStore({ file, vaultKey })
  stores.set(file, store)
  await store.startWorker(WORKER, systemClock.now())
  return store
}

/** Microseconds per run of one claim; releases the claimed runs. */
async function claimOnce(store: Store, limit: number): Promise<number> {
  const begunAt = performance.now()
  const claimed = await store.claimRuns(WORKER, limit, systemClock.now())
  const micros = ((performance.now() - begunAt) / limit) * 1_000
  if (claimed.length !== limit) throw new Error(`claimed ${claimed.length} runs instead of ${limit}`)
  await Promise.all(claimed.map(({ lease }) => store.releaseRun(lease)))
  return micros
}

answerCalls({
  /** Times of `rounds` claims from each store, in turn, so that a slow moment hits them all. */
  async claim({ files, rounds, limit }: { files: string[]; rounds: number; limit: number }) {
    const times = files.map((): number[] => [])
    for (let round = 0; round < rounds * files.length; round++) {
      const at = (round + Math.floor(round / files.length)) % files.length
      times[at]?.push(await claimOnce(await openStore(files[at] ?? ''), limit))
    }
    return times
  },
})
