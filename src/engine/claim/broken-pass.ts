import { describeError } from '../../core/errors.ts'
import type { Notice } from '../../core/notices.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Lease } from '../../core/runs/lease.ts'
import type { Store } from '../../core/store/store.ts'
import { waitUntil } from '../../core/time.ts'
import { asLost, describeOutcome } from '../execute/settle-run.ts'
import type { Parking } from '../pass/parking.ts'
import type { WorkerParts } from '../worker-parts.ts'

/** How long a run waits after its pass broke, and how often we try to write that. */
const PAUSE_MS = 5_000

/**
 * Parks a run whose pass itself broke, most likely because the store cannot be written. Tries again
 * until that is written, the lease is lost, or `signal` aborts.
 */
export async function parkBrokenPass(
  { store, clock, publish }: Pick<WorkerParts, 'store' | 'clock' | 'publish'>,
  run: ClaimedRun,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const failure = describeError(error)
  publish({ kind: 'fault', where: `run ${run.lease.runId}`, error: failure })
  while (!signal.aborted) {
    const dueAt = clock.now() + PAUSE_MS
    const outcome = { kind: 'parked', dueAt, reason: `interrupted: ${failure.message}` } as const
    const parked = store.parkRun(run.lease, outcome).then(() => outcome)
    const settled = await parked.catch(asLost).catch(() => null)
    if (settled) return publish(describeOutcome(run, settled, { now: clock.now(), steps: 0, tags: {} }))
    await waitUntil(clock, dueAt, signal).catch(() => {})
  }
}

/**
 * The notice of a lost pass, marked where the database has another history since its claim. Others
 * stay as they are. A pass is lost seldom, so that one read for each costs nothing.
 */
export async function markFailover(
  notice: Notice,
  { era, worker }: Pick<Lease, 'era' | 'worker'>,
  { store, signal }: { store: Pick<Store, 'listLeases'>; signal: AbortSignal },
): Promise<Notice> {
  if (notice.kind !== 'run.lost' || era === undefined || signal.aborted) return notice
  const leases = await store.listLeases(worker).catch(() => [])
  return leases.some((lease) => lease.era !== era) ? { ...notice, failover: true } : notice
}

/**
 * Gives back the run of a pass that a failover dropped, once no step of that pass is at work. Does
 * nothing where the worker no longer holds it, or has claimed it anew. A failover may lose a claim,
 * and the next one has the same fence. Where it fails, `ForgottenLeases` does the same.
 */
export async function giveBackDropped(
  { runId, fence, worker }: Lease,
  { parking, listAtWork }: { parking: Pick<Parking, 'idle'>; listAtWork: () => Promise<string[]> },
  store: Pick<Store, 'listLeases' | 'releaseRun'>,
): Promise<void> {
  await parking.idle()
  const leases = await store.listLeases(worker).catch(() => [])
  const held = leases.find((lease) => lease.runId === runId && lease.fence === fence)
  if (!held || (await listAtWork()).includes(runId)) return
  await store.releaseRun({ ...held, worker }).catch(() => {})
}
