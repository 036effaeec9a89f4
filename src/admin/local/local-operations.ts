import { UpshotError } from '../../core/errors.ts'
import type { Caller } from '../access/caller.ts'
import type { AnyInput, CallOptions } from '../client/admin-client.ts'
import type { RouteTable } from '../contract/route.ts'
import type { RouteName } from '../contract/routes.ts'
import type { AnyHandler } from '../perform/handler.ts'
import { perform } from '../perform/perform.ts'
import { toKnown } from '../perform/to-known.ts'
import type { Bytes, Surroundings } from '../ports/surroundings.ts'
import type { ResourceParts } from '../resources/parts.ts'

/** Operations of one caller in this process, beside the database, without a server. */
export function localOperations({ openSurroundings, ...parts }: LocalParts, caller: Caller) {
  const opened = new Map<object, Readonly<Record<string, AnyHandler>>>()
  const openResource = async ({ routes, open }: Resource, usesStoreAlone: boolean) => {
    // Much of the app: a command that reads the store alone does not wait for it.
    const surroundings = usesStoreAlone ? (null as never) : await openSurroundings()
    const handlers = open({ ...parts, surroundings })
    opened.set(routes, handlers)
    return handlers
  }
  /** Performs one operation. Throws only {@link UpshotError}. */
  const performOne = async (name: RouteName, input: AnyInput = {}, options: CallOptions = {}): Promise<unknown> => {
    const loaded = await loadOperation(name)
    if (loaded === null) throw new UpshotError('not_found', `Only a server has the operation ${name}.`)
    const { spec, resource, usesStoreAlone } = loaded
    const handlers = opened.get(resource.routes) ?? (await openResource(resource, usesStoreAlone))
    const { params = {}, query = {}, body } = input
    const { signal = new AbortController().signal, onProgress: tell, idempotencyKey: onceKey } = options
    try {
      const operation = { spec, handler: handlers[name] as AnyHandler }
      return await perform(parts, operation, { params, query, body }, { caller, signal, tell, onceKey })
    } catch (error) {
      // A fault of work that its asker ended is that end.
      signal.throwIfAborted()
      throw isForeign(error) ? error : toKnown(error)
    }
  }
  return {
    perform: performOne,
    /** The bytes of an operation that answers so. */
    async *stream(name: RouteName, input?: AnyInput, options?: CallOptions): AsyncGenerator<Uint8Array | string> {
      try {
        yield* ((await performOne(name, input, options)) as Bytes).chunks
      } catch (error) {
        options?.signal?.throwIfAborted()
        throw error
      }
    },
    /** The events of an operation that tells its progress. */
    async *events(name: RouteName, input?: AnyInput, options?: CallOptions): AsyncGenerator<unknown> {
      yield* (await performOne(name, input, options)) as AsyncIterable<unknown>
    },
  }
}

/** An error that the command line tells by itself, such as one of the files client. */
function isForeign(error: unknown): boolean {
  return error instanceof Error && error.name !== 'ZodError'
}

type LocalParts = Omit<ResourceParts, 'surroundings'> & { openSurroundings: () => Promise<Surroundings> }

interface Resource {
  routes: RouteTable
  open: (parts: ResourceParts) => Readonly<Record<string, AnyHandler>>
}

const loadEffects = () =>
  pair(import('../contract/resources/safety/effects.ts'), import('../resources/safety/effect-handlers.ts'))
const loadSystem = () =>
  pair(import('../contract/resources/system/system.ts'), import('../resources/system/system-handlers.ts'))
const loadFiles = () =>
  pair(import('../contract/resources/service/files.ts'), import('../resources/service/file-handlers.ts'))
const loadUpkeep = () =>
  pair(import('../contract/resources/system/upkeep.ts'), import('../resources/system/upkeep-handlers.ts'))
const loadTokens = () =>
  pair(import('../contract/resources/access/tokens.ts'), import('../resources/access/token-handlers.ts'))

/** Loaders of operations by the first word of their paths. A command needs one of them. */
const RESOURCES: Record<string, () => Promise<Resource>> = {
  runs: () => pair(import('../contract/resources/runs.ts'), import('../resources/run-handlers.ts')),
  hooks: () => pair(import('../contract/resources/safety/hooks.ts'), import('../resources/safety/hook-handlers.ts')),
  failures: () => pair(import('../contract/resources/failures.ts'), import('../resources/failure-handlers.ts')),
  events: () => pair(import('../contract/resources/events.ts'), import('../resources/event-handlers.ts')),
  deliveries: () => pair(import('../contract/resources/deliveries.ts'), import('../resources/delivery-handlers.ts')),
  workflows: () => pair(import('../contract/resources/workflows.ts'), import('../resources/workflow-handlers.ts')),
  schedules: () => pair(import('../contract/resources/schedules.ts'), import('../resources/schedule-handlers.ts')),
  approvals: () =>
    pair(import('../contract/resources/safety/approvals.ts'), import('../resources/safety/approval-handlers.ts')),
  approvers: () =>
    pair(import('../contract/resources/safety/approvers.ts'), import('../resources/safety/approver-handlers.ts')),
  effects: loadEffects,
  guard: loadEffects,
  coverage: () =>
    pair(import('../contract/resources/system/coverage.ts'), import('../resources/system/coverage-handlers.ts')),
  subjects: () => pair(import('../contract/resources/subjects.ts'), import('../resources/subject-handlers.ts')),
  endpoints: () => pair(import('../contract/resources/endpoints.ts'), import('../resources/endpoint-handlers.ts')),
  accounts: () =>
    pair(import('../contract/resources/service/accounts.ts'), import('../resources/service/account-handlers.ts')),
  files: loadFiles,
  downloads: loadFiles,
  tokens: loadTokens,
  sessions: loadTokens,
  audit: () => pair(import('../contract/resources/access/audit.ts'), import('../resources/access/audit-handlers.ts')),
  operations: () => pair(import('../contract/resources/operations.ts'), import('../resources/operation-handlers.ts')),
  alerts: () => pair(import('../contract/resources/system/alerts.ts'), import('../resources/system/alert-handlers.ts')),
  overview: loadSystem,
  system: loadSystem,
  config: loadUpkeep,
  doctor: loadUpkeep,
  database: loadUpkeep,
  retention: loadUpkeep,
  privacy: () =>
    pair(import('../contract/resources/system/privacy.ts'), import('../resources/system/privacy-handlers.ts')),
}

/** Resources that ask the store and nothing else. */
const STORE_ALONE = new Set([
  'runs',
  'hooks',
  'failures',
  'approvers',
  'subjects',
  'audit',
  'tokens',
  'sessions',
  'operations',
  'privacy',
])

/** The operation with this name and what performs it; null for one that only HTTP has. */
async function loadOperation(name: RouteName) {
  const [, word = ''] = /^\w+ \/(\w+)/.exec(name) ?? []
  const resource = await RESOURCES[word]?.()
  const spec = resource?.routes[name]
  return resource && spec ? { spec, resource, usesStoreAlone: STORE_ALONE.has(word) } : null
}

/** The handlers of every operation that needs no HTTP. */
export async function openHandlers(parts: ResourceParts): Promise<Readonly<Record<string, AnyHandler>>> {
  const resources = await Promise.all([...new Set(Object.values(RESOURCES))].map((load) => load()))
  return Object.assign({}, ...resources.map(({ open }) => open(parts)))
}

/** A resource of two modules: the only table of one, and the only function of the other. */
async function pair(contract: Promise<object>, handlers: Promise<object>): Promise<Resource> {
  const routes = Object.entries(await contract).find(([name]) => name.endsWith('_ROUTES'))?.[1] as RouteTable
  const open = Object.entries(await handlers).find(([name]) => name.endsWith('Handlers'))?.[1] as Resource['open']
  return { routes, open }
}
