import type { Publish } from '../../core/notices.ts'
import type { Recovery as Recovered } from '../../core/runs/blame.ts'
import { LEASE_MS } from '../../core/runs/lease.ts'
import type { RunName } from '../../core/runs/run.ts'
import { carryOutAll } from '../../core/store/as-operator.ts'
import type { Store } from '../../core/store/store.ts'
import type { WorkerParts } from '../worker-parts.ts'

type Parts = Pick<WorkerParts, 'store' | 'clock' | 'publish'>

/** Goes on where processes died: with their runs, and with what they had begun. */
export class Recovery {
  readonly #parts: Parts
  readonly #stopping = new AbortController()
  #current: Promise<boolean> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** True: runs woke. */
  run(): Promise<boolean> {
    this.#current = this.#recover()
    return this.#current
  }

  /** Waits for the commit under way; none follows. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    // The caller of `run` hears of its failure.
    await this.#current?.catch(() => {})
  }

  async #recover(): Promise<boolean> {
    const { store, clock, publish } = this.#parts
    const { signal } = this.#stopping
    if (signal.aborted) return false
    const recovery = await store.recoverRuns(clock.now(), LEASE_MS)
    publishRecovery(publish, recovery)
    return recovery.count + (await carryOutAll(store, clock, signal)) > 0
  }
}

/** Says what became of the runs of dead workers; nothing where there were none. */
export function publishRecovery(publish: Publish, { count, suspects, parked }: Recovered): void {
  if (count > 0) publish({ kind: 'runs.recovered', count })
  if (suspects.length > 0) publish({ kind: 'runs.suspected', runs: suspects })
  for (const run of parked) {
    publish({ kind: 'run.parked', ...run, root: null, parentRun: null, dueAt: null, awaits: null })
  }
}

/** The runs that a worker holds. */
export async function listAtWork(store: Pick<Store, 'listLeases' | 'findRun'>, worker: string): Promise<RunName[]> {
  const leases = await store.listLeases(worker)
  const named = leases.map(async ({ runId }) => ({
    run: runId,
    workflow: (await store.findRun(runId))?.workflow ?? '',
  }))
  return Promise.all(named)
}
