import type { AdmissionPlan, AdmissionVerdict, Fold, Gate } from '../../../src/core/runs/admission.ts'
import type { ClaimedRun } from '../../../src/core/runs/claim.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { claimNext } from './claim-next.ts'

export const concurrency: Gate = { name: 'concurrency-1', key: 'a', most: 1, perMs: null }
export const throttle: Gate = { name: 'throttle', key: '', most: 1, perMs: 100 }
export const singleton: Gate = { name: 'singleton', key: '', most: 1, perMs: null }
export const batch: Fold = { kind: 'batch', key: 'a', size: 3, waitMs: 100 }
export const debounce: Fold = { kind: 'debounce', key: 'a', waitMs: 100, maxMs: 1_000 }

/** A plan that admits the run, but for the fields in `part`. */
export function planAdmission(part: Partial<AdmissionPlan> = {}): AdmissionPlan {
  return {
    priority: 0,
    hasStarted: false,
    startBy: null,
    wakeAt: null,
    mayStart: true,
    fold: null,
    onConflict: 'skip',
    gates: [],
    ...part,
  }
}

/** Saves an event with one run, and claims that. */
export async function arrive(store: Store, eventId: string, now = NOW): Promise<ClaimedRun> {
  await queueRun(store, eventId, 'follow-up', now)
  return claimNext(store, now)
}

/** Asks for the admission of a claimed run. */
export async function askAdmission(
  store: Store,
  run: ClaimedRun,
  part: Partial<AdmissionPlan>,
  now = NOW,
): Promise<AdmissionVerdict> {
  return (await store.admitRun(run.lease, planAdmission(part), now)).verdict
}
