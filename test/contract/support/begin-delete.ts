import type { Lease } from '../../../src/core/runs/lease.ts'
import type { Checkpoint } from '../../../src/core/runs/step.ts'
import type { EffectAsk, EffectPermit } from '../../../src/core/safety/effect.ts'
import type { Limit } from '../../../src/core/safety/guard.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { NOW } from '../../support/fixtures.ts'

/** So many deletes of all runs in an hour. */
export function limitOf(most: number, part: Partial<Limit> = {}): Limit {
  const setting = 'guard.all.deletes.perHour'
  return { scope: 'all', what: 'deletes', window: 'hour', most, setting, over: 'approve', ...part }
}

/** Holds each delete. */
export const NONE = [limitOf(0)]

/** The ask of a delete step; without limits unless `part` has some. */
export function deleteAsk(step: Checkpoint, part: Partial<EffectAsk> = {}): EffectAsk {
  const row: Checkpoint = { ...step, effect: 'delete', status: 'waiting', attempt: 0, output: null, finishedAt: null }
  const source = { workflow: 'follow-up', account: 'default', storage: 'storage_a' }
  return { step: row, class: 'delete', operation: 'files.delete', ...source, asked: null, limits: [], ...part }
}

/** Asks for one write step, which no limit bounds. */
export async function beginWrite(store: Store, lease: Lease, step: Checkpoint): Promise<EffectPermit> {
  const row: Checkpoint = { ...step, status: 'started', output: null, finishedAt: null }
  const ask = { ...deleteAsk(step), step: row, class: 'write', operation: step.key } as const
  const [permit] = await store.beginEffects(lease, [ask], { now: NOW, needs: 1, expiresAt: NOW + 86_400_000 })
  if (!permit) throw new Error('no answer')
  return permit
}

/** Asks for one delete step. */
export async function beginDelete(
  store: Store,
  lease: Lease,
  step: Checkpoint,
  part: Partial<EffectAsk> & { now?: number; needs?: number } = {},
): Promise<EffectPermit> {
  const { now = NOW, needs = 1, ...rest } = part
  const options = { now, needs, expiresAt: now + 86_400_000 }
  const [permit] = await store.beginEffects(lease, [deleteAsk(step, rest)], options)
  if (!permit) throw new Error('no answer')
  return permit
}
