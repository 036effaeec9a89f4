import type { Change } from '../../../core/safety/differences/difference.ts'
import type { Deed } from './deed.ts'

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
