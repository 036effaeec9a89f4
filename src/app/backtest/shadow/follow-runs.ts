import { isFinished } from '../../../core/runs/run.ts'
import { addLook, type ShadowBook } from '../../../core/safety/shadow-book.ts'
import type { RunReads } from '../../../core/store/runs.ts'
import type { Room } from '../../play/room.ts'
import { backtest } from '../backtest.ts'
import { type CasePage, type CaseStore, readCases, readPage } from '../read-cases.ts'

/** The reads that following runs takes. */
type FollowStore = CaseStore & Pick<RunReads, 'findRun'>

interface Follower {
  workflow: string
  room: Pick<Room, 'playAll' | 'settings' | 'code'>
  signal: AbortSignal
}

/** A run is looked at no sooner after it was made: its row may be committed that late. */
const BEHIND_MS = 5_000
/** The longest time of which the runs are one look, so that a crash repeats no more. */
const WINDOW_MS = 60_000
/** Runs at a time that are asked whether they have ended. */
const LATE_AT_ONCE = 64
const LATE_PER_LOOK = 8 * LATE_AT_ONCE

/** Recorded answers only: a read made now would see what the run has changed. */
const RULES = { readsLive: false, rerun: [], fixtures: {} }

/** Whether runs are left that no look has seen. */
export function isBehind({ followed }: ShadowBook, now: number): boolean {
  return followed < now - BEHIND_MS
}

/** Plays the runs of the next minute, and those that have ended late. Gives the next book. */
export async function followRuns(
  store: FollowStore,
  book: ShadowBook,
  { workflow, room, signal, now }: Follower & { now: number },
): Promise<ShadowBook> {
  const until = Math.max(book.followed, Math.min(now - BEHIND_MS, book.followed + WINDOW_MS))
  const asked = await askLate(store, book.late.slice(0, LATE_PER_LOOK))
  const late = [...book.late.slice(LATE_PER_LOOK), ...asked.unfinished]
  const pages = pagesOf(store, { workflow, since: book.followed, until, ended: asked.ended })
  const noted = noteUnfinished(pages, late)
  const {
    unfinished: _,
    guard: __,
    ...found
  } = await backtest(noted, {
    ...{ workflow, room, signal, against: null, withOutputs: false, rules: RULES },
  })
  return addLook(book, { followed: until, late, missed: asked.missed, found })
}

/** Which of these runs have ended; a run that retention has removed is missed. */
async function askLate(store: FollowStore, late: readonly string[]) {
  const asked = { ended: [] as string[], unfinished: [] as string[], missed: 0 }
  for (let from = 0; from < late.length; from += LATE_AT_ONCE) {
    const ids = late.slice(from, from + LATE_AT_ONCE)
    const runs = await Promise.all(ids.map((id) => store.findRun(id)))
    for (const run of runs) {
      if (run === null) asked.missed += 1
      else if (isFinished(run.status)) asked.ended.push(run.id)
      else asked.unfinished.push(run.id)
    }
  }
  return asked
}

interface Stretch {
  workflow: string
  since: number
  until: number
  /** Runs that ended since the last look. */
  ended: readonly string[]
}

async function* pagesOf(store: FollowStore, { ended, since, until, workflow }: Stretch): AsyncGenerator<CasePage> {
  for (let from = 0; from < ended.length; from += LATE_AT_ONCE) {
    yield readPage(store, ended.slice(from, from + LATE_AT_ONCE))
  }
  if (since < until) yield* readCases(store, { workflow, since, until })
}

/** Takes the runs that have not ended out of the pages, into `late`. */
async function* noteUnfinished(pages: AsyncIterable<CasePage>, late: string[]): AsyncGenerator<CasePage> {
  for await (const page of pages) {
    late.push(...page.unfinished)
    yield { ...page, unfinished: [] }
  }
}
