import type { EffectAsk } from './effect.ts'
import { type EffectSource, findFull, type Limit } from './guard.ts'

export interface CountedAsk {
  ask: EffectAsk
  source: EffectSource
}

/** Effects of one source and class, with the limits that apply to each of them. */
export interface EffectShare {
  source: EffectSource
  class: EffectAsk['class']
  limits: readonly Limit[]
  count: number
  bytes: number
}

/**
 * A list of effects that is too long for one commit. One decides about all of it, and each of its
 * parts begins in another. See decision 81.
 */
export interface EffectList {
  /** Unlike that of the other lists of the same pass. */
  number: number
  /** Every source of its effects: a stop of one of them holds all. */
  sources: readonly EffectSource[]
}

/** The guard's answer to a list. `reserved`: all of it is counted. */
export type ListRoom = { kind: 'reserved' } | { kind: 'full'; limit: Limit } | { kind: 'stopped' }

/**
 * Most effects that begin in one commit; a longer list begins in parts. With PostgreSQL, each takes
 * some messages, and stops and other effects wait meanwhile.
 */
export const MAX_TOGETHER = 50

/** The first limit that has no room for the whole group; null where all have. */
export function findFullOf(group: readonly CountedAsk[], usedOf: (limit: Limit) => number): Limit | null {
  return findFullIn(sharesOf(group), usedOf)
}

/** The first limit that has no room for all shares together; null where all have. */
export function findFullIn(
  shares: readonly Pick<EffectShare, 'limits' | 'count' | 'bytes'>[],
  usedOf: (limit: Limit) => number,
): Limit | null {
  // Effects of one list may be of several storages, each with limits of its own.
  const sums = new Map<string, { limit: Limit; count: number; bytes: number }>()
  for (const { limits, count, bytes } of shares) {
    for (const limit of limits) {
      const name = nameOf(limit)
      const known = sums.get(name) ?? { limit, count: 0, bytes: 0 }
      sums.set(name, { limit, count: known.count + count, bytes: known.bytes + bytes })
    }
  }
  for (const { limit, ...sum } of sums.values()) {
    const full = findFull([limit], sum, usedOf)
    if (full !== null) return full
  }
  return null
}

/** A group by source, class and limits. */
export function sharesOf(group: readonly CountedAsk[]): EffectShare[] {
  const shares = new Map<string, EffectShare>()
  for (const { ask, source } of group) {
    const name = [
      source.storage,
      source.folder,
      ask.class,
      ...ask.limits.map((limit) => `${nameOf(limit)} ${limit.most}`),
    ].join()
    const { count, bytes } = sizeOf(ask)
    const known = shares.get(name)
    if (known) {
      known.count += count
      known.bytes += bytes
    } else shares.set(name, { source, class: ask.class, limits: ask.limits, count, bytes })
  }
  return [...shares.values()]
}

export function sizeOf({ asked }: EffectAsk) {
  return { count: 1, bytes: asked?.bytes ?? 0 }
}

function nameOf({ scope, setting }: Limit): string {
  return `${scope} ${setting}`
}
