import type { Change } from '../../../core/safety/differences.ts'
import { isOfOneRun, settingIn } from '../../../core/safety/guard.ts'
import { fillLimits, type GuardRules, planLimitsOf } from '../find-held.ts'
import type { PreviewedEffect } from '../previewed.ts'
import type { Deed, RunSide } from './deed.ts'

/**
 * Names the limit that held a recorded effect, by the words of its approval or of its refusal.
 * Undefined for a limit by the hour or day, which counts other runs, too.
 */
export function readHeldBy(words: string, isRefused: boolean): string | undefined {
  const setting = settingIn(words)
  return setting !== null && isOfOneRun(setting) ? nameHeldBy(setting, isRefused) : undefined
}

/**
 * Adds to a previewed side which limits of one run would hold its effects. Those of which the
 * recording does not tell it are left out, and fill none: people may have approved them.
 */
export function addHeldBy(
  side: RunSide,
  effects: readonly PreviewedEffect[],
  { recorded, ...rules }: GuardRules & { recorded: readonly Deed[] },
): RunSide {
  const known = new Map(recorded.map((deed) => [deed.step, deed]))
  const asked = effects.flatMap((effect) => {
    const deed = known.get(effect.step)
    if (deed !== undefined && deed.heldBy === undefined) return []
    const limits = planLimitsOf(effect, rules).filter(({ window }) => window === 'run')
    return [{ effect, limits, bytes: effect.asked?.bytes ?? deed?.bytes ?? 0 }]
  })
  const full = fillLimits(asked).map((limit) => limit && nameHeldBy(limit.setting, limit.over === 'fail'))
  const heldBy = new Map(asked.map(({ effect }, index) => [effect.step, full[index]]))
  return { ...side, deeds: side.deeds.map((deed) => ({ ...deed, heldBy: heldBy.get(deed.step) })) }
}

function nameHeldBy(setting: string, isRefused: boolean): string {
  if (!setting.startsWith('guard')) return `held: ${setting}`
  return `${isRefused ? 'refused' : 'held'} by ${setting}`
}

/** Names a kind of effects, whose holding is one change. */
type NameKind = (deed: Deed) => Pick<Change, 'operation' | 'target'>

/**
 * Effects that a limit of one run holds on one side only, or another limit on the other. Effects of
 * which a recording does not tell it are left out.
 */
export function compareHeld(before: readonly Deed[], after: readonly Deed[], nameKind: NameKind): Change[] {
  const kindOf = (deed: Deed) => JSON.stringify([deed.class, nameKind(deed)])
  const olds = Map.groupBy(before, kindOf)
  const news = after.filter(({ heldBy }) => heldBy !== undefined)
  return [...Map.groupBy(news, kindOf)].flatMap(([kind, deeds]): Change[] => {
    const old = olds.get(kind) ?? []
    const [from, to] = [listHeldBy(old), listHeldBy(deeds)]
    const [deed] = deeds
    if (from === to || deed === undefined) return []
    const about = { class: 'held', ...nameKind(deed), bytes: 0 } as const
    if (to === '') return [{ sign: '-', ...about, from, to: FREE }]
    if (from !== '') return [{ sign: '~', ...about, from, to }]
    return [{ sign: '+', ...about, from: old.length === 0 ? 'not done' : FREE, to }]
  })
}

const FREE = 'begins by itself'

/** Empty where no limit holds any. */
function listHeldBy(deeds: readonly Deed[]): string {
  const heldBy = deeds.map((deed) => deed.heldBy).filter((each) => typeof each === 'string')
  return [...new Set(heldBy)].sort().join(', ')
}
