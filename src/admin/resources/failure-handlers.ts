import { UpshotError } from '../../core/errors.ts'
import {
  decideFailureState,
  type FailureGroup,
  type FailureState,
  mergeFailureGroups,
} from '../../core/runs/failure-group.ts'
import type { FailureFilter } from '../../core/store/runs.ts'
import { searchPage } from '../../core/store/search.ts'
import { type Duration, isoTime, momentOf, parseDuration } from '../../core/time.ts'
import type { FAILURE_ROUTES } from '../contract/resources/failures.ts'
import type { Call, Handlers } from '../perform/handler.ts'
import { decodePosition, describePage } from '../queries/read-page.ts'
import { given, parseSearch, readMoment, readTagFilter } from '../queries/read-query.ts'
import type { ResourceParts } from './parts.ts'

const GROUP_ID = /^grp_[0-9a-z]{10}$/
const HOUR_MS = 3_600_000
/** Failed runs of one slice. Their rows lie apart, so that each may be a read of the disk. */
const FAILURES = 1_000

/** Failed runs by kind, and the verdicts of persons on a kind. */
export function failureHandlers({ openLists }: ResourceParts): Handlers<keyof typeof FAILURE_ROUTES> {
  const save = async (call: Call<'POST /failures/:id/resolve'>, given: Pick<FailureState, 'kind' | 'until'>) => {
    const { params, body, operator, writes, now } = call
    // Whether it has failed runs is a search; another id, such as that of a run, is a mistake.
    if (!GROUP_ID.test(params.id)) throw describeMissing(params.id)
    await writes.saveFailureState({ ...given, group: params.id, note: body.note, by: operator.actor, at: now })
    return undefined
  }
  return {
    async 'GET /failures'(call) {
      const { query, now, signal } = call
      const filter = readFilter(call)
      const lists = await openLists()
      const page = await searchPage((slice) => lists.groupFailures(filter, slice), {
        // A slice has as many kinds as it has: only its rows and the time bound a page.
        limit: Infinity,
        rows: FAILURES,
        after: decodePosition(query.after, /^run_\w+$/) ?? null,
        mayGoOn: () => !signal.aborted,
        now: () => performance.now(),
      })
      const groups = mergeFailureGroups(page.items)
      const states = await lists.listFailureStates(groups.map(({ id }) => id))
      const known = new Map(states.map((state) => [state.group, state]))
      return {
        ...describePage(page),
        items: groups.map((group) => describeGroup(group, { state: known.get(group.id), filter, now })),
      }
    },
    'POST /failures/:id/resolve': (call) => save(call, { kind: 'resolved', until: null }),
    'POST /failures/:id/snooze': (call) =>
      save(call, { kind: 'snoozed', until: call.now + parseDuration(call.body.for as Duration) }),
  }
}

function describeMissing(id: string): UpshotError {
  return new UpshotError('not_found', `There is no kind of failure "${id}".`, { fix: 'GET /failures lists them.' })
}

function readFilter({ query, caller, now }: Call<'GET /failures'>): FailureFilter {
  const search = parseSearch(query.q, ['workflow', 'tag', 'step', 'error', 'since', 'until'])
  const { words, filters } = search
  const text = words.join(' ')
  return given({
    workflow: query.workflow ?? filters.workflow,
    tags: readTagFilter(query.tag, search, caller),
    step: query.step ?? filters.step,
    error: query.error ?? filters.error ?? (text === '' ? undefined : text),
    since: readMoment(filters.since ?? query.since, now),
    until: readMoment(query.until ?? filters.until, now),
  })
}

function describeGroup(
  { firstAt, lastAt, byHour, ...group }: FailureGroup,
  { state, filter, now }: { state: FailureState | undefined; filter: FailureFilter; now: number },
) {
  const { note = null, by = null, until = null } = state ?? {}
  return {
    ...group,
    ...spread(byHour, filter.since ?? firstAt, filter.until ?? now),
    firstAt: isoTime(firstAt),
    lastAt: isoTime(lastAt),
    state: decideFailureState(state ?? null, { lastAt, now, left: group.runs - group.resolved }),
    note,
    by,
    until: momentOf(until),
  }
}

/** Parts of the time that is asked for. */
const PARTS = 24

/** Counts by the hour as parts of a stretch; an hour counts for the part that it ends in. */
function spread(byHour: FailureGroup['byHour'], from: number, until: number): { trend: number[] } {
  const trend = new Array<number>(PARTS).fill(0)
  for (const [hour, runs] of Object.entries(byHour)) {
    const share = ((Number(hour) + 1) * HOUR_MS - from) / Math.max(1, until - from)
    const part = Math.min(PARTS - 1, Math.max(0, Math.ceil(share * PARTS) - 1))
    trend[part] = (trend[part] ?? 0) + runs
  }
  return { trend }
}
