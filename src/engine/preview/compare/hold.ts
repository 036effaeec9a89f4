import type { Change } from '../../../core/safety/differences.ts'
import { isOfOneRun, settingIn } from '../../../core/safety/guard.ts'
import { fillLimits, type HoldRules, planLimitsOf } from '../find-holds.ts'
import type { PreviewedEffect } from '../previewed.ts'
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
 * Adds to a previewed side which limits of one run would hold its effects. Those whose hold the
 * recording does not tell are left out, and fill none: people may have approved them.
 */
export function addHolds(
  side: RunSide,
  effects: readonly PreviewedEffect[],
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

/** Names a kind of effects, whose holds are one change. */
type NameKind = (deed: Deed) => Pick<Change, 'operation' | 'target'>

/**
 * Effects that a limit of one run holds on one side only, or another limit on the other. Effects of
 * which a recording does not tell it are left out.
 */
export function compareHolds(before: readonly Deed[], after: readonly Deed[], nameKind: NameKind): Change[] {
  const kindOf = (deed: Deed) => JSON.stringify([deed.class, nameKind(deed)])
  const olds = Map.groupBy(before, kindOf)
  const news = after.filter(({ hold }) => hold !== undefined)
  return [...Map.groupBy(news, kindOf)].flatMap(([kind, deeds]): Change[] => {
    const old = olds.get(kind) ?? []
    const [from, to] = [listHolds(old), listHolds(deeds)]
    const [deed] = deeds
    if (from === to || deed === undefined) return []
    const about = { class: 'hold', ...nameKind(deed), bytes: 0 } as const
    if (to === '') return [{ sign: '-', ...about, from, to: FREE }]
    if (from !== '') return [{ sign: '~', ...about, from, to }]
    return [{ sign: '+', ...about, from: old.length === 0 ? 'not done' : FREE, to }]
  })
}

const FREE = 'begins by itself'

/** Empty where no limit holds any. */
function listHolds(deeds: readonly Deed[]): string {
  const holds = deeds.map(({ hold }) => hold).filter((hold) => typeof hold === 'string')
  return [...new Set(holds)].sort().join(', ')
}
