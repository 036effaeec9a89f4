import { LEFT_ALONE } from '../../../core/safety/effect.ts'
import {
  findFull,
  type Guard,
  isOfOneRun,
  type Limit,
  settingIn,
  type WorkflowLimits,
} from '../../../core/safety/guard.ts'
import { planLimitsOf } from '../find-holds.ts'
import type { PlayedEffect } from '../played.ts'
import type { Deed, RunSide } from './deed.ts'

/** The guard of one side, with the run as far as limits count by it. */
interface HoldRules {
  limits: Guard | null
  own: WorkflowLimits | undefined
  source: { runId: string; workflow: string; account: string }
}

/**
 * The hold that a recording tells of, from the words of its approval or of the error that refused
 * it. Undefined for one by the hour or day, which other runs have a part in.
 */
export function readHold(words: string, isRefused: boolean): string | undefined {
  const setting = settingIn(words)
  return setting !== null && isOfOneRun(setting) ? nameHold(setting, isRefused) : undefined
}

/**
 * Adds to a played side which limits of one run would hold its effects. Those whose hold the
 * recording does not tell are left out, and fill none: people may have approved them.
 */
export function addHolds(
  side: RunSide,
  effects: readonly PlayedEffect[],
  { recorded, ...rules }: HoldRules & { recorded: readonly Deed[] },
): RunSide {
  const known = new Map(recorded.map((deed) => [deed.step, deed]))
  const used = new Map<string, number>()
  const usedOf = ({ scope, what }: Limit) => used.get(`${scope} ${what}`) ?? 0
  const holds = new Map<string, string | null>()
  for (const effect of effects) {
    const deed = known.get(effect.step)
    if (deed !== undefined && deed.hold === undefined) continue
    const limits = planLimitsOf(effect, rules).filter(({ window }) => window === 'run')
    const size = { count: 1, bytes: effect.asked?.bytes ?? deed?.bytes ?? 0 }
    const full = findFull(limits, size, usedOf)
    holds.set(effect.step, full && nameHold(full.setting, full.over === 'fail'))
    // The guard takes the place of a file back that was not deleted.
    if (full !== null || LEFT_ALONE.includes(effect.outcome ?? '')) continue
    const filled = new Map(limits.map((limit) => [`${limit.scope} ${limit.what}`, limit]))
    for (const [key, limit] of filled) used.set(key, usedOf(limit) + (limit.what === 'bytes' ? size.bytes : 1))
  }
  return { ...side, deeds: side.deeds.map((deed) => ({ ...deed, hold: holds.get(deed.step) })) }
}

function nameHold(setting: string, isRefused: boolean): string {
  if (!setting.startsWith('guard')) return `held: ${setting}`
  return `${isRefused ? 'refused' : 'held'} by ${setting}`
}
