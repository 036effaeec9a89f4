import { type FailureGroup, mergeFailureGroups } from '../../core/runs/failure-group.ts'
import { decideFailureState, type FailureState } from '../../core/runs/failure-state.ts'
import type { FailureFilter } from '../../core/store/runs.ts'
import { searchPage } from '../../core/store/search.ts'
import { type Duration, isoTime, parseDuration } from '../../core/time.ts'
import { describeOperator } from '../access/describe-operator.ts'
import type { FAILURE_ROUTES } from '../contract/resources/failures.ts'
import type { Call, Handlers } from '../http/handler.ts'
import { parseSearch } from '../queries/parse-search.ts'
import { describePage } from '../queries/read-page.ts'
import { decodePosition, given, readMoment } from '../queries/read-query.ts'
import { momentOf } from '../views/moment-of.ts'
import { asCaller, type ResourceParts } from './parts.ts'

/** Failed runs of one slice. Their rows lie apart, so that each may be a read of the disk. */
const FAILURES = 1_000

/** Failed runs by kind, and the verdicts of persons on a kind. */
export function failureHandlers(parts: ResourceParts): Handlers<keyof typeof FAILURE_ROUTES> {
  const { store } = parts
  const save = async (call: Call<'POST /failures/:id/resolve'>, given: Pick<FailureState, 'kind' | 'until'>) => {
    const { params, body, caller, now } = call
    const by = describeOperator(caller, null).actor
    await asCaller(parts, { caller, body }).saveFailureState({
      ...given,
      ...{ group: params.id, note: body.note, by, at: now },
    })
    return undefined
  }
  return {
    async 'GET /failures'({ query, now, signal }) {
      const filter = readFilter(query, now)
      const page = await searchPage((slice) => store.groupFailures(filter, slice), {
        // A slice has as many kinds as it has: only its rows and the time bound a page.
        limit: Infinity,
        rows: FAILURES,
        after: decodePosition(query.after, /^run_\w+$/) ?? null,
        mayGoOn: () => !signal.aborted,
        now: () => performance.now(),
      })
      const groups = mergeFailureGroups(page.items)
      const states = await store.listFailureStates(groups.map(({ id }) => id))
      const known = new Map(states.map((state) => [state.group, state]))
      return { ...describePage(page), items: groups.map((group) => describeGroup(group, known.get(group.id), now)) }
    },
    'POST /failures/:id/resolve': (call) => save(call, { kind: 'resolved', until: null }),
    'POST /failures/:id/snooze': (call) =>
      save(call, { kind: 'snoozed', until: call.now + parseDuration(call.body.for as Duration) }),
  }
}

function readFilter(query: Call<'GET /failures'>['query'], now: number): FailureFilter {
  const { words, filters } = parseSearch(query.q, ['workflow', 'step', 'error', 'since', 'until'])
  const text = words.join(' ')
  return given({
    workflow: query.workflow ?? filters.workflow,
    step: filters.step,
    error: filters.error ?? (text === '' ? undefined : text),
    since: readMoment(filters.since ?? query.since, now),
    until: readMoment(query.until ?? filters.until, now),
  })
}

function describeGroup({ firstAt, lastAt, ...group }: FailureGroup, state: FailureState | undefined, now: number) {
  const { note = null, by = null, until = null } = state ?? {}
  return {
    ...group,
    firstAt: isoTime(firstAt),
    lastAt: isoTime(lastAt),
    state: decideFailureState(state ?? null, { lastAt, now }),
    ...{ note, by, until: momentOf(until) },
  }
}
