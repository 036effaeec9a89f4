import { UpshotError } from '../../core/errors.ts'
import { RUN_ORIGINS, RUN_STATUSES, type RunFilter } from '../../core/runs/run.ts'
import type { Call } from '../perform/handler.ts'
import { findEventId } from './find-event.ts'
import { given, parseSearch, readMoment, readTagFilter } from './read-query.ts'

type RunQuery = Omit<Call<'GET /runs'>['query'], 'limit' | 'after'>

/** Filters of a `q` about runs. */
const FILTERS = [
  'status',
  'workflow',
  'tag',
  'event',
  'origin',
  'step',
  'group',
  'error',
  'resolved',
  'since',
  'until',
] as const

const NOT_SKIPPED = RUN_STATUSES.filter((status) => status !== 'skipped')

const BOOLEANS = ['true', 'false'] as const

/**
 * The filter of a query for runs, with its `q` and the whole id of an event. Words are looked for
 * in errors.
 */
export async function readRunFilter(
  store: Parameters<typeof findEventId>[0],
  query: RunQuery,
  { now, caller }: Pick<Call<'GET /runs'>, 'now' | 'caller'>,
): Promise<RunFilter> {
  const search = parseSearch(query.q, FILTERS)
  const { words, filters } = search
  const event = words.find((word) => word.startsWith('evt_'))
  const text = words.filter((word) => word !== event).join(' ')
  const ofEvent = query.event ?? filters.event ?? event
  const { resolved = readOne(filters.resolved, BOOLEANS) } = query
  const { status = readOne(filters.status, RUN_STATUSES), workflow = filters.workflow } = query
  return given({
    status,
    statuses: query.withoutSkipped === undefined ? undefined : NOT_SKIPPED,
    workflow,
    eventId: ofEvent === undefined ? undefined : await findEventId(store, ofEvent),
    origin: query.origin ?? readOne(filters.origin, RUN_ORIGINS),
    parentRun: query.parent,
    waitsForPerson: query.needsPerson === undefined ? undefined : (true as const),
    tags: readTagFilter(query.tag, search, caller),
    step: query.step ?? filters.step,
    failureGroup: query.group ?? filters.group,
    resolved: resolved === undefined ? undefined : resolved === 'true',
    error: query.error ?? filters.error ?? (text === '' ? undefined : text),
    since: readMoment(query.since ?? filters.since, now),
    until: readMoment(query.until ?? filters.until, now),
  })
}

function readOne<Word extends string>(text: string | undefined, words: readonly Word[]): Word | undefined {
  if (text === undefined) return undefined
  const word = words.find((each) => each === text)
  if (word) return word
  throw new UpshotError('invalid_request', `"${text}" is not one of: ${words.join(', ')}.`)
}
