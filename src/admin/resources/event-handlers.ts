import { randomBytes } from 'node:crypto'
import { includesRole } from '../../core/access/role.ts'
import { refuse, UpshotError } from '../../core/errors.ts'
import { deriveId, newId } from '../../core/ids.ts'
import { type EventRecord, OWN_TYPES, type ServiceEvent } from '../../core/incoming/event.ts'
import type { EventSearch } from '../../core/incoming/event-search.ts'
import { parseEvent } from '../../core/incoming/parse-event.ts'
import { pickRoutes, planRuns } from '../../core/incoming/route.ts'
import type { Run } from '../../core/runs/run.ts'
import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import { redactBody } from '../../core/service/shapes/redact-body.ts'
import { emptyShape, foldBody } from '../../core/service/shapes/shape.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import { searchSlices } from '../../core/store/search.ts'
import type { ListReads, ReadStore } from '../../core/store/store.ts'
import { isoTime, withIsoTimes } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { EVENT_ROUTES } from '../contract/resources/events.ts'
import type { Call, Handlers } from '../perform/handler.ts'
import { findAbsorbers } from '../queries/find-absorber.ts'
import { findEvent, findEventToActOn } from '../queries/find-event.ts'
import { EVENT_POSITION, readPage } from '../queries/read-page.ts'
import { given, parseSearch, readMoment } from '../queries/read-query.ts'
import { readTrace } from '../queries/read-trace.ts'
import { requireEndpoint, requireWorkflow } from '../queries/require-row.ts'
import {
  describeDeliveries,
  describeEvent,
  describeRuns,
  maskCallbacks,
  readData,
  readSubjects,
  seesPayloads,
  writeMasked,
} from '../views/run-view.ts'
import { startOperation } from './operation-handlers.ts'
import type { ResourceParts } from './parts.ts'
import { readSteps } from './read-run-details.ts'

/** Deliveries and runs that are listed with one event. */
const MAX_OF_EVENT = 200
/** Steps that one trace tells. */
const MAX_STEPS = 5_000

type EventRoute = keyof typeof EVENT_ROUTES
type EventAction = Extract<EventRoute, `POST ${string}`>

/** Events, with everything that came of one; sending and replaying them. */
export function eventHandlers(parts: ResourceParts): Handlers<EventRoute> {
  return { ...eventReads(parts), ...eventActions(parts) }
}

function eventReads({ store, surroundings, openLists }: ResourceParts): Handlers<Exclude<EventRoute, EventAction>> {
  return {
    async 'GET /events/:id/data'({ params, query: { account, limit, after } }) {
      const { body } = await findEvent(store, { id: params.id, account })
      // Masked before it is cut: a token may lie across two parts.
      const text = body === '' ? 'null' : JSON.stringify(maskCallbacks(JSON.parse(body).data))
      const end = after + limit
      return { text: text.slice(after, end), next: end < text.length ? end : null }
    },
    async 'GET /events/:id/redacted'({ params, query }) {
      const { account, ...event } = await findEvent(store, { id: params.id, account: query.account })
      const known = account === DEFAULT_ACCOUNT ? surroundings.defaultAccount() : await store.findAccount(account)
      return redactEvent(store, event, known?.storages ?? {})
    },
    async 'GET /events/:id/trace'({ params, query, caller, signal }) {
      const nodes = await readTrace(store, await findEvent(store, { id: params.id, account: query.account }), signal)
      const found = nodes.flatMap((node) => (node.kind === 'run' ? [node.run] : []))
      const runs = new Map((await describeRuns(store, found, caller)).map((run) => [run.id, run]))
      const steps = query.steps ? await readStepsOf(store, found, caller) : null
      return {
        nodes: nodes.map(({ id, parent, cause, step, isCut, ...node }) => ({
          id,
          parent,
          cause,
          step,
          isCut,
          event: node.kind === 'event' ? describeEvent(node.event, caller) : null,
          run: runs.get(id) ?? null,
          steps: steps?.get(id) ?? null,
        })),
        isComplete: nodes.every(({ isCut }) => !isCut),
      }
    },
    async 'GET /events'({ query, now, caller, signal }) {
      const search = readSearch(query, caller, now)
      const lists = await openLists()
      return readPage(
        { query, signal, position: EVENT_POSITION },
        (slice) => lists.searchEvents(search, slice),
        (events) => events.map((event) => describeEvent(event, caller)),
      )
    },
    async 'GET /events/export'({ query, caller, now, signal }) {
      const chunks = exportEvents(await openLists(), readSearch(query, caller, now), signal)
      return { type: 'application/x-ndjson', name: 'events.ndjson', size: null, chunks }
    },
    async 'GET /events/drifts'({ query, now }) {
      const since = readMoment(query.since, now) ?? 0
      const drifts = Object.values((await store.loadShapeBook())?.book.types ?? {}).flatMap((each) => each.drifts)
      const found = drifts.filter(({ at }) => at >= since).sort((one, other) => other.at - one.at)
      return { items: found.map(withIsoTimes) }
    },
    async 'GET /events/:id'({ params, query, caller }) {
      const event = await findEvent(store, { id: params.id, account: query.account })
      const { id, account } = event
      const runs = await store.listRuns({ eventId: id, account, limit: MAX_OF_EVENT })
      return {
        ...describeEvent(event, caller),
        ...readData(event, caller),
        subjects: readSubjects(event, caller),
        deliveries: await describeDeliveries(store, await store.listDeliveriesOf(event, MAX_OF_EVENT), caller),
        runs: await describeRuns(store, runs, caller),
        absorbers: await describeRuns(store, await findAbsorbers(store, runs), caller),
      }
    },
  }
}

/** Lines of one chunk: few, so that a slow reader holds little. */
const LINES = 100

async function* exportEvents(lists: ListReads, search: EventSearch, signal: AbortSignal): AsyncGenerator<string> {
  let lines: string[] = []
  for await (const { event, data } of readTraffic(lists, search)) {
    if (signal.aborted) return
    const { id, account, type, receivedAt } = event
    lines.push(writeMasked({ id, account, type, receivedAt: isoTime(receivedAt), data }))
    if (lines.length < LINES) continue
    yield lines.join('')
    lines = []
  }
  yield lines.join('')
}

/** The steps of the first runs, as long as their number is bounded. */
async function readStepsOf(store: ReadStore, runs: readonly Run[], caller: Caller) {
  const told = new Map<string, Awaited<ReturnType<typeof readSteps>>>()
  let left = MAX_STEPS
  for (const { id } of runs) {
    const steps = left > 0 ? await readSteps(store, id, caller) : []
    if (steps.length > left || left === 0) break
    told.set(id, steps)
    left -= steps.length
  }
  return told
}

/**
 * The search of a query. A viewer sees no payloads, so that it may not ask for their words either.
 */
function readSearch(
  query: Omit<Call<'GET /events'>['query'], 'limit' | 'after'>,
  caller: Caller,
  now: number,
): EventSearch {
  const { words, filters } = parseSearch(query.q, ['type', 'path', 'account', 'since', 'until'])
  const path = query.path ?? filters.path
  if (!seesPayloads(caller) && (words.length > 0 || path !== undefined)) {
    throw new UpshotError('forbidden', 'Words and paths are looked for in payloads, which a viewer does not see.')
  }
  return given({
    type: query.type ?? filters.type,
    account: query.account ?? filters.account,
    path,
    words: words.length === 0 ? undefined : words,
    since: readMoment(query.since ?? filters.since, now),
    until: readMoment(query.until ?? filters.until, now),
  })
}

function eventActions(parts: ResourceParts): Handlers<EventAction> {
  const { store, surroundings } = parts
  return {
    async 'POST /events'({ body, caller, record, now, signal, onceKey }) {
      const endpoint = await requireEndpoint(store, body.endpoint)
      if (surroundings.keeperOf(endpoint) !== 'sandbox') requireAdmin(caller, endpoint.name)
      const { id = nameEvent(onceKey, caller, now), type, data } = body
      // A repeat whose first answer was lost is a duplicate: it has the time of what was saved.
      const known = onceKey === null ? [] : await store.findEvents(id)
      const { created = isoTime(known.find(({ account }) => account === endpoint.account)?.createdAt ?? now) } = body
      const event = parseEvent({ id, type, created, data })
      await record(id, { type, endpoint: endpoint.name })
      const verdict = await surroundings.sendEvent(event, endpoint, signal)
      // The receiver answers after its commit, so the runs exist already.
      const runs = await store.listRuns({ eventId: id, account: endpoint.account, limit: MAX_OF_EVENT })
      return { event: id, verdict, runs: verdict === 'accepted' ? runs.map((run) => run.id) : [] }
    },
    async 'POST /events/match'({ body, record, now }) {
      const event = await readAskedEvent(store, body, now)
      await record(event.id, { type: event.type })
      const { workflows, broken } = await surroundings.matchEvent(event)
      const unloaded = broken.map(({ file, error }) => ({ file, message: error.message }))
      return { event: event.id, type: event.type, workflows, broken: unloaded }
    },
    async 'POST /events/replay'(call) {
      const { body, caller, operator, now } = call
      const search = readSearch(body.filter, caller, now)
      if (Object.keys(search).length === 0) {
        throw refuse('A filter that selects every event is refused.', 'Name a type, a path or a time.')
      }
      for (const workflow of body.workflows ?? []) await requireWorkflow(store, workflow)
      const routes = pickRoutes((await store.listRoutes()) ?? [], body.workflows)
      const filter = { ...search, until: Math.min(search.until ?? now, now) }
      const started = { id: newId('opr', now), operator, perSecond: body.perSecond, createdAt: now }
      const plan = { ...started, kind: 'replay', filter, routes } as const
      return startOperation(parts, plan, call)
    },
    async 'POST /events/:id/replay'({ params, body, caller, writes, now }) {
      const event = await findEventToActOn(store, { id: params.id, account: body.account })
      const known = planRuns(event.type, (await store.listRoutes()) ?? [])
      const workflows = body.workflows ?? known
      const unknown = workflows.filter((workflow) => !known.includes(workflow))
      for (const workflow of unknown) await requireWorkflow(store, workflow)
      if (unknown.length > 0 || workflows.length === 0) throw describeUnfit(event, unknown, known)
      if (body.isDryRun) return { event: event.id, workflows, runs: [] }
      const ids = await writes.replayEvent(event, workflows, now)
      const runs = (await Promise.all(ids.map((id) => store.findRun(id)))).filter((run) => run !== null)
      return { event: event.id, workflows, runs: await describeRuns(store, runs, caller) }
    },
  }
}

/** The same id for the same key: the receiver then knows an event whose answer was lost. */
function nameEvent(key: string | null, { kind, id }: Caller, now: number): string {
  return key === null ? newId('evt', now) : deriveId('evt', kind, id, key)
}

/** The event of a question: a stored one, or one that is given and goes nowhere. */
async function readAskedEvent(
  store: Pick<ReadStore, 'findEvents' | 'searchEvents'>,
  { event: id, account, type, data, created }: Call<'POST /events/match'>['body'],
  now: number,
): Promise<EventRecord> {
  if (id !== undefined && type === undefined && data === undefined) return findEvent(store, { id, account })
  if (type === undefined || data === undefined) {
    throw new UpshotError('invalid_request', 'Give either the id of an event, or a type with its data.')
  }
  const asked = parseEvent({ id: id ?? newId('evt', now), type, created: created ?? isoTime(now), data })
  const at = { createdAt: Date.parse(asked.created), receivedAt: now, stream: 0, seq: 0 }
  return { id: asked.id, account: account ?? DEFAULT_ACCOUNT, type, origin: 'send', body: JSON.stringify(asked), ...at }
}

/** An event at an endpoint of the real service starts real work: that needs an admin. */
function requireAdmin({ role, name }: Caller, endpoint: string): void {
  if (includesRole(role, 'admin')) return
  throw new UpshotError('forbidden', `Events for the endpoint "${endpoint}" need the role admin; ${name} has ${role}.`)
}

function describeUnfit({ id, type }: EventRecord, unknown: readonly string[], known: readonly string[]): UpshotError {
  const [workflow] = unknown
  const who = workflow === undefined ? 'No workflow runs' : `The workflow "${workflow}" does not run`
  const fix =
    known.length === 0
      ? 'See which types start which workflows: upshot workflows list'
      : `Choose from: ${known.join(', ')}.`
  return new UpshotError('conflict', `${who} on events of type ${type}, such as ${id}.`, { fix })
}

/** Events of the type that tell which texts are words of an enumeration. */
const LEARNED_FROM = 500

/**
 * An event with other texts of the same form and length, to be shown to others; null without its
 * body. Equal texts stay equal within it, and each call makes other ones.
 */
async function redactEvent(
  store: Pick<ReadStore, 'searchEvents'>,
  { type, body }: Pick<EventRecord, 'type' | 'body'>,
  spellings: StorageSpellings,
): Promise<Pick<ServiceEvent, 'type'> & { data: unknown }> {
  const shape = emptyShape()
  for await (const { data } of readTraffic(store, { type })) {
    foldBody(shape, data)
    if (shape.seen === LEARNED_FROM) break
  }
  const { data } = body === '' ? { data: null } : (JSON.parse(body) as ServiceEvent)
  return { type, data: redactBody(data, shape, randomBytes(32), spellings) }
}

/** Rows of one read: a few milliseconds each. */
const SLICE = { rows: 2_000, limit: 500 }

/**
 * Stored events with their `data`, newest first. Those whose body is pruned are left out, and those
 * of our own types.
 */
export async function* readTraffic(
  store: Pick<ListReads, 'searchEvents'>,
  search: EventSearch,
): AsyncGenerator<{ event: EventRecord; data: ServiceEvent['data'] }> {
  for await (const events of searchSlices((slice) => store.searchEvents(search, slice), SLICE)) {
    for (const event of events) {
      if (event.body === '' || event.type.startsWith(OWN_TYPES)) continue
      yield { event, data: (JSON.parse(event.body) as ServiceEvent).data }
    }
  }
}
