import { setImmediate as nextTurn } from 'node:timers/promises'
import { UpshotError } from '../../core/errors.ts'
import {
  activeSecrets,
  describeTakenEndpoint,
  type Endpoint,
  newSecret,
  planEndpoint,
  planPin,
  planRetirement,
  planRotation,
  planScheme,
  retiredSecrets,
} from '../../core/incoming/endpoint.ts'
import type { SignatureScheme } from '../../core/incoming/signature.ts'
import { type Solution, solveCaptures } from '../../core/solver/solve-scheme.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime, momentOf, parseDuration } from '../../core/time.ts'
import type { ENDPOINT_ROUTES } from '../contract/resources/endpoints.ts'
import type { Call, Handlers } from '../perform/handler.ts'
import { requireAccount, requireEndpoint } from '../queries/require-row.ts'
import { resolveAmong } from '../queries/resolve-id.ts'
import type { ResourceParts } from './parts.ts'

const DAY_MS = 86_400_000

type EndpointRoute = keyof typeof ENDPOINT_ROUTES
type Read = Extract<EndpointRoute, `GET ${string}`>
type Change = Exclude<EndpointRoute, Read | 'POST /endpoints/:name/solve' | 'POST /endpoints/:name/test'>

/** Endpoints: secrets by position and last use, never by value. */
export function endpointHandlers(parts: ResourceParts): Handlers<EndpointRoute> {
  return { ...endpointReads(parts), ...endpointChanges(parts), ...endpointTrials(parts) }
}

function endpointReads(parts: ResourceParts): Handlers<Read> {
  const { store } = parts
  return {
    async 'GET /endpoints'() {
      const endpoints = await store.listEndpoints()
      return { items: await Promise.all(endpoints.map((endpoint) => describeEndpoint(parts, endpoint))) }
    },
    async 'GET /endpoints/:name'({ params, now }) {
      const found = await requireEndpoint(store, params.name)
      const deliveries24h = await store.countDeliveries(found.id, now - DAY_MS)
      return { ...(await describeEndpoint(parts, found)), deliveries24h }
    },
    async 'GET /endpoints/:name/captures'({ params }) {
      const { id } = await requireEndpoint(store, params.name)
      const captures = await store.listCaptures(id)
      return {
        items: captures.map(({ id, receivedAt, headers, body }) => ({
          id,
          receivedAt: isoTime(receivedAt),
          bodyBytes: body.length,
          headers: Object.keys(headers),
        })),
      }
    },
  }
}

function endpointChanges(parts: ResourceParts): Handlers<Change> {
  const { store, surroundings } = parts
  return {
    async 'POST /endpoints'({ body, writes, now }) {
      const { name, account, events, learn, scheme } = body
      await requireAccount(store, account)
      const given = { name, account, events, ...(scheme === undefined ? {} : { scheme }) }
      const planned = planEndpoint({ ...given, ...(body.secret === undefined ? {} : { secret: body.secret }) }, now)
      const endpoint: Endpoint = learn ? { ...planned, status: 'learning' } : planned
      // Opens all secrets: one of another key among them would keep the app from starting.
      const known = await store.listEndpoints()
      if (known.some((each) => each.name === name)) throw describeTakenEndpoint(name)
      if (!body.isDryRun) await writes.addEndpoint(endpoint)
      return { endpoint: await describeEndpoint(parts, endpoint), secret: newestSecret(endpoint, body) }
    },
    'PATCH /endpoints/:name': async (call) =>
      describeEndpoint(parts, await change(parts, call, (endpoint) => planChange(parts, endpoint, call.body))),
    async 'POST /endpoints/:name/rotate'(call) {
      const { body, now } = call
      const overlapMs = body.overlap === '0' ? 0 : parseDuration(body.overlap)
      const endpoint = await change(parts, call, (before) => {
        refuseKept(parts, before)
        return planRotation(before, body.secret ?? newSecret(before.scheme), { overlapMs, now })
      })
      return { endpoint: await describeEndpoint(parts, endpoint), secret: newestSecret(endpoint, body) }
    },
    'POST /endpoints/:name/retire': async (call) =>
      describeEndpoint(parts, await change(parts, call, (endpoint) => planRetirement(endpoint, call.now))),
    'POST /endpoints/:name/pin': async (call) =>
      describeEndpoint(parts, await change(parts, call, (endpoint) => planPin(endpoint, call.body.scheme))),
    async 'DELETE /endpoints/:name'({ params, writes, now }) {
      const endpoint = await requireEndpoint(store, params.name)
      if (surroundings.keeperOf(endpoint) !== null) {
        const { name } = endpoint
        throw new UpshotError(
          'conflict',
          `The app creates the endpoint "${name}" at each start, so it cannot be removed.`,
          {
            fix: `Refuse its deliveries with "upshot endpoints disable ${name}".`,
          },
        )
      }
      await writes.removeEndpoint(endpoint, now)
      return undefined
    },
  }
}

function endpointTrials(parts: ResourceParts): Handlers<Exclude<EndpointRoute, Read | Change>> {
  const { store, surroundings } = parts
  return {
    async 'POST /endpoints/:name/solve'(call) {
      const { params, body, now } = call
      const solution = await solve(store, await requireEndpoint(store, params.name), body, now)
      const isPinned = body.pin && solution.kind === 'match'
      if (isPinned) {
        await change(parts, call, (endpoint) => planSolved(endpoint, solution.scheme, { secret: body.secret, now }))
      }
      return describeSolution(solution, isPinned)
    },
    async 'POST /endpoints/:name/test'({ params, body, record, signal }) {
      const endpoint = await requireEndpoint(store, params.name)
      await record(endpoint.name)
      const result = await surroundings.tryEndpoint(endpoint, body.isPublic, signal)
      return { ...result, isPassed: result.isStored && result.trials.every(({ isRight }) => isRight) }
    },
  }
}

/** Plans a change, saves it with its audit row, and tells the sandbox where it is its endpoint. */
async function change(
  parts: ResourceParts,
  { params, writes, body }: Pick<Call<'POST /endpoints/:name/retire'>, 'params' | 'writes'> & { body: object },
  plan: (endpoint: Endpoint) => Endpoint,
): Promise<Endpoint> {
  const { store, surroundings } = parts
  const before = await requireEndpoint(store, params.name)
  const after = plan(before)
  if (after.account !== before.account) await requireAccount(store, after.account)
  if ('isDryRun' in body && body.isDryRun) return after
  await writes.updateEndpoint(after)
  await surroundings.endpointChanged(after)
  return requireEndpoint(store, after.name)
}

function planChange(
  { surroundings }: ResourceParts,
  endpoint: Endpoint,
  body: Call<'PATCH /endpoints/:name'>['body'],
): Endpoint {
  if (body.status === 'active' && endpoint.status === 'learning') throw describeLearning(endpoint)
  const { account = endpoint.account, events = endpoint.events, status = endpoint.status, scheme } = body
  const edited = { ...endpoint, account, events, status, revision: body.revision ?? endpoint.revision }
  if (scheme === undefined) return edited
  if (surroundings.isHeaderKept(endpoint) && scheme.header !== endpoint.scheme.header) {
    throw new UpshotError(
      'conflict',
      `The header of endpoint "${endpoint.name}" comes from SERVICE_SIGNATURE_HEADER.`,
      { fix: 'Change SERVICE_SIGNATURE_HEADER and restart the app.' },
    )
  }
  return planScheme(edited, scheme)
}

/** The scheme of an endpoint that is learning is not known yet. */
function describeLearning({ name }: Endpoint): UpshotError {
  return new UpshotError('conflict', `Endpoint "${name}" is still learning how its deliveries are signed.`, {
    fix:
      `Find the scheme with "upshot endpoints solve ${name}", ` +
      `or set it with "upshot endpoints pin ${name} --scheme <scheme>".`,
  })
}

/** Pins the scheme. A secret that was given and fits becomes the endpoint's own. */
function planSolved(
  endpoint: Endpoint,
  scheme: SignatureScheme,
  { secret, now }: { secret: string | undefined; now: number },
): Endpoint {
  if (secret === undefined) return planPin(endpoint, scheme)
  return planPin(planRotation({ ...endpoint, scheme }, secret, { overlapMs: 0, now }), scheme)
}

async function solve(
  store: Pick<ReadStore, 'listCaptures'>,
  endpoint: Endpoint,
  { delivery, secret }: { delivery?: string | undefined; secret?: string | undefined },
  now: number,
): Promise<Solution> {
  const all = await store.listCaptures(endpoint.id)
  const only = delivery === undefined ? null : resolveAmong(delivery, all)
  const captures = delivery === undefined ? all : all.filter(({ id }) => id === only?.id)
  if (captures.length === 0) throw describeNone(endpoint, delivery)
  const own = {
    secrets: activeSecrets(endpoint, now),
    oldSecrets: retiredSecrets(endpoint, now),
  }
  // A stranger may make each cost half a second: requests and deliveries have a turn between them.
  return solveCaptures(captures, secret === undefined ? own : { secrets: [secret] }, nextTurn)
}

function describeNone({ name, status }: Endpoint, delivery: string | undefined): UpshotError {
  const fix =
    delivery !== undefined
      ? `List the captured ones with "upshot deliveries list --endpoint ${name} --verdict learning".`
      : status === 'learning'
        ? 'Make the service send an event, then run this again.'
        : `Capture deliveries with "upshot endpoints edit ${name} --learn", which refuses them meanwhile.`
  const what = delivery === undefined ? 'no delivery yet' : `no delivery ${delivery}`
  return new UpshotError('not_found', `Endpoint "${name}" has captured ${what}.`, { fix })
}

function describeSolution(solution: Solution, isPinned: boolean) {
  const { kind, tried } = solution
  const nothing = { kind, tried, isPinned, scheme: null, preset: null, cause: null, advice: null }
  if (solution.kind === 'match') return { ...nothing, scheme: solution.scheme, preset: solution.preset }
  if (solution.kind === 'none') return nothing
  return { ...nothing, scheme: solution.scheme, cause: solution.cause, advice: solution.advice }
}

/** Refuses a secret of the environment: the app would rotate it back at its next start. */
function refuseKept({ surroundings }: ResourceParts, endpoint: Endpoint): void {
  if (surroundings.keeperOf(endpoint) !== 'environment') return
  throw new UpshotError('conflict', `The secret of endpoint "${endpoint.name}" comes from SERVICE_WEBHOOK_SECRET.`, {
    fix: 'Change SERVICE_WEBHOOK_SECRET and restart the app. The old one is accepted for another 24 h.',
  })
}

/** The secret that was made, to be shown once; null for one that was given, or is not saved. */
function newestSecret({ secrets }: Endpoint, { secret, isDryRun }: { secret?: string | undefined; isDryRun: boolean }) {
  return secret === undefined && !isDryRun ? (secrets.at(-1)?.value ?? null) : null
}

async function describeEndpoint({ store, surroundings }: ResourceParts, endpoint: Endpoint) {
  const { id, path, createdAt, secrets, ...rest } = endpoint
  const uses = new Map((await store.listSecretUses(id)).map((use) => [use.position, use.lastUsedAt]))
  const receiver = await surroundings.receiverUrl()
  return {
    ...rest,
    id,
    path: `/hooks/${path}`,
    url: receiver === null ? null : `${receiver}/hooks/${path}`,
    keeper: surroundings.keeperOf(endpoint),
    isHeaderKept: surroundings.isHeaderKept(endpoint),
    createdAt: isoTime(createdAt),
    secrets: secrets.map(({ position, activeFrom, until }) => ({
      position,
      activeFrom: isoTime(activeFrom),
      until: momentOf(until),
      lastUsedAt: momentOf(uses.get(position) ?? null),
    })),
    deliveries24h: null,
    captures: endpoint.status === 'learning' ? (await store.listCaptures(id)).length : 0,
  }
}
