import type { EffectAsk, EffectPermit } from '../../../core/safety/effect.ts'
import { MAX_TOGETHER } from '../../../core/safety/effect-group.ts'
import type { AskOptions } from '../../../core/store/safety/effects.ts'
import { askInParts, type ListJournal } from './ask-in-parts.ts'

interface Waiting {
  ask: EffectAsk
  resolve: (permit: EffectPermit) => void
  reject: (error: unknown) => void
}

/** The asks of each list that begin in the present turn, by the list's own object. */
const lists = new WeakMap<object, Waiting[]>()

/**
 * Asks for an effect together with the others of its list that begin in this turn. All are granted,
 * or none.
 */
export function askTogether(
  journal: ListJournal,
  list: object,
  { runId, ask, options }: { runId: string; ask: EffectAsk; options: AskOptions },
): Promise<EffectPermit> {
  return new Promise((resolve, reject) => {
    const waiting = lists.get(list) ?? []
    waiting.push({ ask, resolve, reject })
    if (waiting.length > 1) return
    lists.set(list, waiting)
    setImmediate(() => {
      lists.delete(list)
      void answer(journal, waiting, { runId, options })
    })
  })
}

async function answer(
  journal: ListJournal,
  waiting: readonly Waiting[],
  { runId, options }: { runId: string; options: AskOptions },
): Promise<void> {
  try {
    const asks = waiting.map(({ ask }) => ask)
    const permits =
      asks.length > MAX_TOGETHER
        ? await askInParts(journal, runId, { asks, options })
        : await journal.beginEffects(asks, { ...options, together: true })
    for (const [index, { resolve }] of waiting.entries()) resolve(tellOnce(permits[index] as EffectPermit, index))
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

/** An approval that the list opened is told of once. */
function tellOnce(permit: EffectPermit, index: number): EffectPermit {
  return permit.kind === 'held' && index > 0 ? { ...permit, opened: false } : permit
}
