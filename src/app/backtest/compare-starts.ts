import { matchType } from '../../core/incoming/event.ts'
import type { CronTrigger } from '../../core/runs/schedule.ts'
import { type Group, SAMPLES, type Starts } from '../../core/safety/differences.ts'
import { markEvent } from '../../core/store/events.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { groupOf } from '../../engine/preview/compare/compare-sides.ts'
import { parseCronLine } from '../../schedule/cron-line.ts'
import type { RunChoice } from './read-cases.ts'

interface Sides {
  was: Starts
  is: Starts
  /** Groups of recorded runs: a cause that they have lost is told there. */
  known: readonly Group[]
}

type Stretch = Omit<RunChoice, 'workflow'> & { until: number }

const PAGE = 500
/** Moments of a cron line that are counted. */
const MAX_MOMENTS = 100_000

/** Differences in what starts runs, beside those that recorded runs have shown. */
export async function compareStarts(
  store: Pick<ReadStore, 'listEvents'> | null,
  { was, is, known }: Sides,
  stretch: Stretch,
): Promise<Group[]> {
  const added = missingFrom(was.eventTypes, is.eventTypes).map((pattern) => startOf('+', pattern))
  if (store !== null && added.length > 0) await countEvents(store, added, was.eventTypes, stretch)
  const lost = known.flatMap(({ changes }) => changes.filter((each) => each.class === 'start'))
  const gone = missingFrom(is.eventTypes, was.eventTypes).filter((pattern) => {
    return !lost.some(({ operation }) => matchType(pattern, operation))
  })
  return [
    ...added,
    ...gone.map((pattern) => startOf('-', pattern)),
    ...compareSchedules(was.schedule, is.schedule, stretch),
    ...(was.limits === null || was.limits === is.limits ? [] : [startOf('~', 'limits', [was.limits, `${is.limits}`])]),
  ]
}

/** Patterns that no pattern of the others covers. */
function missingFrom(others: readonly string[], patterns: readonly string[]): string[] {
  return patterns.filter((pattern) => !others.some((other) => matchType(other, pattern)))
}

function startOf(sign: '+' | '-' | '~', operation: string, [from, to]: (string | null)[] = []): Group {
  return groupOf([{ sign, class: 'start', operation, target: null, from: from ?? null, to: to ?? null, bytes: 0 }])
}

/** Counts the events that start runs only now, in the groups of their patterns. */
async function countEvents(
  store: Pick<ReadStore, 'listEvents'>,
  added: readonly Group[],
  before: readonly string[],
  { since, until, type, account }: Stretch,
): Promise<void> {
  const filter = { since, until, limit: PAGE, ...(type === undefined ? {} : { type }) }
  for (let mark: string | undefined; ; ) {
    const page = await store.listEvents({ ...filter, ...(mark === undefined ? {} : { before: mark }) })
    for (const event of page) {
      const isOurs = (account ?? event.account) === event.account
      const isNew = isOurs && !before.some((pattern) => matchType(pattern, event.type))
      const group = isNew
        ? added.find(({ changes: [change] }) => matchType(change?.operation ?? '', event.type))
        : undefined
      if (group === undefined) continue
      group.count += 1
      if (group.samples.length < SAMPLES) group.samples.push({ run: null, event: event.id })
    }
    const oldest = page.at(-1)
    if (page.length < PAGE || oldest === undefined) return
    mark = markEvent(oldest)
  }
}

/** Its moments are counted; those that it has lost are known where runs of them are recorded. */
function compareSchedules(was: CronTrigger | null, is: CronTrigger | null, stretch: Stretch): Group[] {
  if (was === null || is === null) {
    const only = was ?? is
    if (only === null) return []
    return [
      { ...startOf(is === null ? '-' : '+', describe(only)), count: is === null ? 0 : listMoments(is, stretch).size },
    ]
  }
  if (describe(was) === describe(is)) return []
  const [old, fresh] = [listMoments(was, stretch), listMoments(is, stretch)]
  const count = [...old.keys().filter((each) => !fresh.has(each)), ...fresh.keys().filter((each) => !old.has(each))]
  return [{ ...startOf('~', 'cron', [describe(was), describe(is)]), count: count.length }]
}

function describe({ expression, timezone, catchUp, withinMs, overlap, accounts }: CronTrigger): string {
  const rules = [`catchUp ${catchUp}`, `within ${withinMs / 1_000} s`, `overlap ${overlap}`]
  return `${expression} (${[timezone, ...rules, ...(accounts === 'each' ? ['each account'] : accounts)].join(', ')})`
}

function listMoments({ expression, timezone }: CronTrigger, { since, until }: Stretch): Set<number> {
  const next = parseCronLine(expression, timezone)
  const moments = new Set<number>()
  for (let moment = next(since - 1); moment !== null && moment < until; moment = next(moment)) {
    if (moments.add(moment).size >= MAX_MOMENTS) break
  }
  return moments
}
