import { LEFT_ALONE } from '../../core/runs/step.ts'
import { findFullIn } from '../../core/safety/effect-group.ts'
import {
  describeLimit,
  folderLimit,
  type Guard,
  type Limit,
  measure,
  planLimits,
  type WorkflowLimits,
} from '../../core/safety/guard.ts'
import { STORAGES } from '../../core/service/storage.ts'
import type { GuardUse } from '../../core/store/effects.ts'
import type { HeldEffect, PreviewedEffect } from './previewed.ts'

/** The guard of a project, and the run as far as limits count by it. */
export interface GuardRules {
  limits: Guard | null
  own: WorkflowLimits | undefined
  source: { runId: string; workflow: string; account: string }
}

/** The effects of a previewed run that a limit has no room for, beside what is used now. */
export function findHeld(
  effects: readonly PreviewedEffect[],
  { use, ...rules }: GuardRules & { use: readonly GuardUse[] },
): HeldEffect[] {
  const asked = effects.map((effect) => ({
    effect,
    limits: planLimitsOf(effect, rules),
    bytes: effect.asked?.bytes ?? 0,
  }))
  const full = fillLimits(asked, (limit) => countUse(use, limit))
  return full.flatMap((limit, index): HeldEffect[] => {
    const step = effects[index]?.step ?? ''
    return limit === null ? [] : [{ step, reason: describeLimit(limit), over: limit.over }]
  })
}

/** A previewed effect with the limits that it has to fit into. */
interface Asking {
  effect: PreviewedEffect
  limits: Limit[]
  bytes: number
}

/**
 * The limit without room for each effect in turn; null where it begins by itself. One that is held
 * fills no limit, as one that people approve, nor does a delete that leaves its file. Those of one
 * list begin together, or are all held.
 */
export function fillLimits(
  asked: readonly Asking[],
  countBefore: (limit: Limit) => number = () => 0,
): (Limit | null)[] {
  const used = new Map<string, number>()
  const usedOf = (limit: Limit) => used.get(keyOf(limit)) ?? countBefore(limit)
  const fullOf = new Map<Asking, Limit | null>()
  for (const group of Map.groupBy(asked, (each) => each.effect.list ?? each).values()) {
    const full = findFullIn(
      group.map(({ limits, bytes }) => ({ limits, count: 1, bytes })),
      usedOf,
    )
    for (const each of group) {
      fullOf.set(each, full)
      if (full !== null || LEFT_ALONE.includes(each.effect.outcome ?? '')) continue
      // Two settings may bound one counter.
      const filled = new Map(each.limits.map((limit) => [keyOf(limit), limit]))
      for (const [key, limit] of filled) used.set(key, usedOf(limit) + measure(limit, { count: 1, bytes: each.bytes }))
    }
  }
  return asked.map((each) => fullOf.get(each) ?? null)
}

/** The limits of a previewed effect, in the order in which they are checked. */
export function planLimitsOf(
  { class: kind, target, listed, isFolderAllowed }: PreviewedEffect,
  { limits, own, source }: GuardRules,
): Limit[] {
  if (kind !== 'delete' && kind !== 'write') return []
  const storage = STORAGES.find((name) => target?.startsWith(`${name}:`)) ?? null
  const planned =
    limits === null ? [] : planLimits(limits, own, { source: { ...source, storage }, effect: kind, listed })
  return isFolderAllowed ? [folderLimit(source), ...planned] : planned
}

function keyOf({ scope, what, window }: Limit): string {
  return `${scope} ${what} ${window}`
}

function countUse(use: readonly GuardUse[], { scope, what, window }: Limit): number {
  const kind = what === 'writes' ? 'write' : 'delete'
  const found = use.find((each) => each.scope === scope && each.window === window && each.class === kind)
  return (what === 'bytes' ? found?.bytes : found?.count) ?? 0
}
