import type { EffectAsk } from './effect.ts'
import { type EffectSource, findFull, type Limit } from './guard.ts'

/** An ask of a list, and the source that it counts for. */
export interface CountedAsk {
  ask: EffectAsk
  source: EffectSource
}

/** The first limit that has no room for the whole group; null where all have. */
export function findFullOf(group: readonly CountedAsk[], usedOf: (limit: Limit) => number): Limit | null {
  const size = group.reduce((sum, { ask }) => ({ count: sum.count + 1, bytes: sum.bytes + (ask.asked?.bytes ?? 0) }), {
    count: 0,
    bytes: 0,
  })
  const [first, ...rest] = group
  if (first === undefined) return null
  if (rest.length === 0) return findFull(first.ask.limits, size, usedOf)
  // Asks of one list may be of several storages, each with limits of its own.
  const limits = new Map<string, { limit: Limit; count: number; bytes: number }>()
  for (const { ask } of group) {
    for (const limit of ask.limits) {
      const name = `${limit.scope} ${limit.setting}`
      const known = limits.get(name) ?? { limit, count: 0, bytes: 0 }
      limits.set(name, { limit, count: known.count + 1, bytes: known.bytes + (ask.asked?.bytes ?? 0) })
    }
  }
  const full = [...limits.values()].find(({ limit, ...part }) => findFull([limit], part, usedOf) !== null)
  return full?.limit ?? null
}

/** The size of a group by source and class. */
export function sizesOf(
  group: readonly CountedAsk[],
): [EffectSource, EffectAsk['class'], { count: number; bytes: number }][] {
  const sizes = new Map<string, [EffectSource, EffectAsk['class'], { count: number; bytes: number }]>()
  for (const { ask, source } of group) {
    const name = `${source.storage} ${ask.class}`
    const known = sizes.get(name)
    const { count, bytes } = sizeOf(ask)
    if (known) {
      known[2].count += count
      known[2].bytes += bytes
    } else sizes.set(name, [source, ask.class, { count, bytes }])
  }
  return [...sizes.values()]
}

/** The size of one ask. */
export function sizeOf({ asked }: EffectAsk) {
  return { count: 1, bytes: asked?.bytes ?? 0 }
}
