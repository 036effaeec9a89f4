import type { Change } from '../../../core/safety/differences.ts'
import type { Deed } from './deed.ts'

/** An effect that both sides have. */
type Twins = readonly [old: Deed, fresh: Deed]

/** Names a kind of effects, whose order is one change. */
type NameKind = (deed: Deed) => Pick<Change, 'operation' | 'target'>

/**
 * Effects of which one waits for the other on one side only. Those that wait for each other on
 * neither side have no order, whichever began first.
 */
export function compareOrder(
  twins: readonly Twins[],
  { before, after }: { before: readonly Deed[]; after: readonly Deed[] },
  nameKind: NameKind,
): Change[] {
  const [wasAt, isAt] = [placesOf(before), placesOf(after)]
  const freshOf = new Map(twins)
  const oldOf = new Map(twins.map(([one, other]) => [other, one]))
  const changes = new Map<string, Change>()
  const note = (first: Deed, second: Deed, from: string, to: string) => {
    const [one, other] = [first, second].map((deed) => describe(nameKind(deed)))
    const key = JSON.stringify([one, other].sort())
    if (changes.has(key)) return
    const about = { sign: '~', class: 'order', ...nameKind(second), bytes: 0 } as const
    const inOneKind = { from: 'one after the other', to: to === AT_ONCE ? to : 'in another order' }
    changes.set(key, { ...about, ...(one === other ? inOneKind : { from: `${from} ${one}`, to }) })
  }
  for (const [first, second] of listLinks(before, freshOf)) {
    const [one, other] = [freshOf.get(first) ?? first, freshOf.get(second) ?? second]
    const { begunBefore = 0 } = one
    if (isAt(other) < isAt(one)) note(first, second, 'after', 'before it')
    else if (begunBefore === null || isAt(other) < begunBefore) note(first, second, 'after', AT_ONCE)
  }
  for (const [first, second] of listLinks(after, oldOf)) {
    const [one, other] = [oldOf.get(first) ?? first, oldOf.get(second) ?? second]
    if (wasAt(other) < wasAt(one)) note(first, second, 'before', 'after it')
  }
  return [...changes.values()]
}

/** The word for an effect that goes on beside the other one. */
const AT_ONCE = 'without waiting for it'

function placesOf(deeds: readonly Deed[]): (deed: Deed) => number {
  const places = new Map(deeds.map((deed, place) => [deed, place]))
  return (deed) => places.get(deed) ?? 0
}

/** Each effect that the other side has, with the newest such one that it waits for. */
function* listLinks(deeds: readonly Deed[], twinOf: ReadonlyMap<Deed, Deed>): Generator<[first: Deed, second: Deed]> {
  /** By step: the effect itself, or the one before it where the other side has it not. */
  const known = new Map<string, Deed | undefined>()
  for (const deed of deeds) {
    const first = deed.after == null ? undefined : known.get(deed.after)
    const hasTwin = twinOf.has(deed)
    if (first !== undefined && hasTwin) yield [first, deed]
    known.set(deed.step, hasTwin ? deed : first)
  }
}

function describe({ operation, target }: ReturnType<NameKind>): string {
  return target === null ? operation : `${operation} ${target}`
}
