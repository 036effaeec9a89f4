import type { ServerRoom, WeekRoom } from '../../../core/store/health/server.ts'
import { type Retention, type WeekKind, weekGoesAt } from '../../../core/store/retention.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { commandClock } from '../../open/command-clock.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { type Finding, ok, warn } from './finding.ts'

const DAY_MS = 86_400_000
/** Weeks are made a month ahead, every hour. */
const MIN_AHEAD_MS = 7 * DAY_MS
/** They are removed every hour; a long reader may hold one up. */
const MAX_LATE_MS = DAY_MS

const WORDS: Record<WeekKind, string> = { runs: 'runs', deliveries: 'deliveries', payloads: 'bodies' }

const FIX = 'Run a process with the role all or scheduler. If one runs, a report or a backup may hold the tables.'

/** One finding for each kind of rows that goes by the week; none for a file. */
export async function checkWeeks(store: Pick<ReadStore, 'readServerRoom'>, config: Config): Promise<Finding[]> {
  const now = commandClock.now()
  const room = await store.readServerRoom(now)
  return room === null ? [] : judgeWeeks(room, config.retention, now)
}

/** How many weeks are kept, which goes next, and whether those to come are ready. */
export function judgeWeeks({ weeks }: Pick<ServerRoom, 'weeks'>, retention: Retention, now: number): Finding[] {
  return weeks.map((week) => judge(week, retention, now))
}

function judge({ kind, kept, oldest, until }: WeekRoom, retention: Retention, now: number): Finding {
  const check = `weeks of ${WORDS[kind]}`
  if (until === null) return warn(check, 'none is made, so rows are removed one by one', { fix: FIX })
  const goesAt = oldest === null ? null : weekGoesAt(kind, oldest.to, retention)
  const ready = `made until ${dayOf(until)}`
  const found = `${kept} kept, ${describeNext(oldest, goesAt)}, ${ready}`
  if (until - now < MIN_AHEAD_MS) return warn(check, `${found} only`, { fix: FIX })
  if (goesAt !== null && goesAt < now - MAX_LATE_MS) return warn(check, `${found}: it is late`, { fix: FIX })
  return ok(check, found)
}

function describeNext(oldest: WeekRoom['oldest'], goesAt: number | null): string {
  if (oldest === null) return 'the present one'
  const week = `that of ${dayOf(oldest.from)} (${formatBytes(oldest.bytes)})`
  return goesAt === null ? `the oldest is ${week} and stays for ever` : `next goes ${week} on ${dayOf(goesAt)}`
}

function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}
