import { isFinished } from '../../../core/runs/run.ts'
import { addLook, BEHIND_MS, isBehind, type ShadowBook } from '../../../core/safety/differences/shadow-book.ts'
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

/** The longest time of which the runs are played at once, so that a crash repeats no more. */
const WINDOW_MS = 60_000
/** Minutes without a run of which one look is made: after a pause they are many. */
const MAX_EMPTY = 60
/** Runs at a time that are asked whether they have ended. */
const LATE_AT_ONCE = 64
const LATE_PER_LOOK = 8 * LATE_AT_ONCE

/** Recorded answers only: a read made now would see what the run has changed. */
const RULES = { readsLive: false, rerun: [], fixtures: {} }

/** Plays the runs of the next minute that has any, and those that have ended late. */
export async function followRuns(
  store: FollowStore,
  book: ShadowBook,
  follower: Follower & { now: number },
): Promise<ShadowBook> {
  let next = await followMinute(store, book, follower)
  for (let empty = 1; empty < MAX_EMPTY && isBehind(next, follower.now); empty++) {
    if (next.found.runs > book.found.runs) break
    next = await followMinute(store, next, follower)
  }
  return next
}

async function followMinute(
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
