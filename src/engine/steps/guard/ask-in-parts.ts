import { UpshotError } from '../../../core/errors.ts'
import type { EffectAsk, EffectPermit } from '../../../core/safety/effect.ts'
import { type EffectList, type ListRoom, MAX_TOGETHER, sharesOf } from '../../../core/safety/effect-group.ts'
import { folderOf } from '../../../core/safety/folders.ts'
import type { AskOptions } from '../../../core/store/effects.ts'
import type { Journal } from '../../pass/journal.ts'

type ListJournal = Pick<Journal, 'beginEffects' | 'beginPart' | 'reserveEffects' | 'takeList'>

/** Times that a list is asked for anew while stops come and go. */
const MAX_ROUNDS = 20

/**
 * Asks for a list that is too long for one commit. Its parts tell what is decided already, and one
 * commit decides about the rest. Then the parts of the rest begin, or are held.
 */
export async function askInParts(
  journal: ListJournal,
  runId: string,
  { asks, options }: { asks: readonly EffectAsk[]; options: AskOptions },
): Promise<EffectPermit[]> {
  const counted = asks.map((ask) => {
    const { workflow, account, storage, asked } = ask
    return { ask, source: { runId, workflow, account, storage, folder: folderOf(asked?.path ?? null) } }
  })
  const sources = [...new Map(counted.map(({ source }) => [source.storage, source])).values()]
  const list = { number: journal.takeList(), sources }
  const permits = new Map<number, EffectPermit>()
  const begin = (indexes: readonly number[], room: ListRoom | null) =>
    beginParts(journal, { asks, indexes, permits }, { list, room }, options)
  const isOpen = (index: number) => !permits.has(index)
  let open = [...asks.keys()]
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await begin(open, null)
    const rest = open.filter(isOpen)
    if (rest.length === 0) return asks.map((_, index) => permits.get(index) as EffectPermit)
    // A stop came or went between the parts, and holds all of the list or none of it.
    const isTorn = open.some((index) => permits.get(index)?.kind === 'stopped')
    if (!isTorn) {
      const shares = sharesOf(rest.map((index) => counted[index]).filter((each) => each !== undefined))
      const room = await journal.reserveEffects(list, shares, options)
      if (room.kind !== 'stopped') await begin(rest, room)
    }
    open = open.filter((index) => isOpen(index) || (isTorn && permits.get(index)?.kind === 'stopped'))
    if (open.length === 0) return asks.map((_, index) => permits.get(index) as EffectPermit)
    for (const index of open) permits.delete(index)
  }
  throw new UpshotError('conflict', `Stops came and went while ${asks.length} effects were asked for together.`)
}

/** Begins some asks of a list, a part in each commit, and keeps the answers. */
async function beginParts(
  journal: ListJournal,
  {
    asks,
    indexes,
    permits,
  }: { asks: readonly EffectAsk[]; indexes: readonly number[]; permits: Map<number, EffectPermit> },
  part: { list: EffectList; room: ListRoom | null },
  options: AskOptions,
): Promise<void> {
  for (let from = 0; from < indexes.length; from += MAX_TOGETHER) {
    const some = indexes.slice(from, from + MAX_TOGETHER)
    // The limits were asked about for the list as a whole.
    const given = some.map((index) => ({ ...(asks[index] as EffectAsk), limits: [] }))
    const answers = await journal.beginPart(given, part, options)
    for (const [place, index] of some.entries()) {
      const answer = answers[place]
      if (answer) permits.set(index, answer)
    }
  }
}
