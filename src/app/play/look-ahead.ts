import type { ApprovalItem } from '../../core/safety/approval.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { PlayedEffect, PlayedEnd } from '../../engine/play/played.ts'
import type { Room } from './room.ts'

/** The rest of a held run, beyond the list that it waits for. */
export interface Ahead {
  run: string
  /** Its deletes and writes that are not in the list, in their order. */
  effects: PlayedEffect[]
  end: PlayedEnd
}

type Reads = Pick<ReadStore, 'readRecordings' | 'listGuardUse'>

/** Plays held runs on from their journals to their end. Real reads, and no effect. */
export async function lookAhead(
  store: Reads,
  room: Pick<Room, 'playOne'>,
  {
    runs,
    items,
    now,
  }: { runs: readonly string[]; items: readonly Pick<ApprovalItem, 'runId' | 'step'>[]; now: number },
): Promise<Ahead[]> {
  const use = await store.listGuardUse(now)
  const recordings = await store.readRecordings(runs)
  const found: Ahead[] = []
  for (const { run, claim, steps } of recordings) {
    const listed = new Set(items.filter(({ runId }) => runId === run.id).map(({ step }) => step))
    const { effects, end } = await room.playOne({ claim, steps }, { readsLive: true, plans: { use, borrows: true } })
    const isNew = ({ class: kind, source, step }: PlayedEffect) =>
      (kind === 'delete' || kind === 'write') && source !== 'recorded' && !listed.has(step)
    found.push({ run: run.id, effects: effects.filter(isNew), end })
  }
  return found
}
