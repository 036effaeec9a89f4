import { isOfOneRun, settingIn } from '../../../core/safety/guard.ts'
import { fillLimits, type HoldRules, planLimitsOf } from '../find-holds.ts'
import type { PlayedEffect } from '../played.ts'
import type { Deed, RunSide } from './deed.ts'

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
  const asked = effects.flatMap((effect) => {
    const deed = known.get(effect.step)
    if (deed !== undefined && deed.hold === undefined) return []
    const limits = planLimitsOf(effect, rules).filter(({ window }) => window === 'run')
    return [{ effect, limits, bytes: effect.asked?.bytes ?? deed?.bytes ?? 0 }]
  })
  const full = fillLimits(asked).map((limit) => limit && nameHold(limit.setting, limit.over === 'fail'))
  const holds = new Map(asked.map(({ effect }, index) => [effect.step, full[index]]))
  return { ...side, deeds: side.deeds.map((deed) => ({ ...deed, hold: holds.get(deed.step) })) }
}

function nameHold(setting: string, isRefused: boolean): string {
  if (!setting.startsWith('guard')) return `held: ${setting}`
  return `${isRefused ? 'refused' : 'held'} by ${setting}`
}
