import {
  describeLimit,
  findFull,
  folderLimit,
  type Guard,
  type Limit,
  planLimits,
  type WorkflowLimits,
} from '../../core/safety/guard.ts'
import { STORAGES } from '../../core/service/storage.ts'
import type { GuardUse } from '../../core/store/safety/effects.ts'
import type { PlayedEffect } from './played.ts'

/** An effect that the guard would not let begin by itself. */
export interface Hold {
  step: string
  /** The limit without room, in words, with its setting. */
  reason: string
  /** The rule for it: people are asked, the step waits, or it fails. */
  over: Limit['over']
}

interface Source {
  runId: string
  workflow: string
  account: string
}

/**
 * The effects of a played run that a limit has no room for, beside what is used now. An effect that
 * is held fills no window, as one that people approve.
 */
export function findHolds(
  effects: readonly PlayedEffect[],
  {
    limits,
    own,
    source,
    use,
  }: { limits: Guard | null; own: WorkflowLimits | undefined; source: Source; use: readonly GuardUse[] },
): Hold[] {
  const used = new Map<string, number>()
  const usedOf = (limit: Limit) => used.get(keyOf(limit)) ?? countUse(use, limit)
  return effects.flatMap((effect): Hold[] => {
    const planned = planLimitsOf(effect, { limits, own, source })
    const size = { count: 1, bytes: effect.asked?.bytes ?? 0 }
    const full = findFull(planned, size, usedOf)
    if (full) return [{ step: effect.step, reason: describeLimit(full), over: full.over }]
    for (const limit of planned) used.set(keyOf(limit), usedOf(limit) + (limit.what === 'bytes' ? size.bytes : 1))
    return []
  })
}

/** The limits of a played effect, in the order in which they are checked. */
export function planLimitsOf(
  { class: kind, target, listed, isFolderAllowed }: PlayedEffect,
  { limits, own, source }: { limits: Guard | null; own: WorkflowLimits | undefined; source: Source },
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
