import type { RouteSpec, RouteTable } from '../contract/route.ts'
import type { RouteName } from '../contract/routes.ts'
import type { AnyHandler } from '../perform/handler.ts'
import type { Surroundings } from '../ports/surroundings.ts'
import type { ResourceParts } from '../resources/parts.ts'

export type LocalParts = Omit<ResourceParts, 'surroundings'> & { openSurroundings: () => Promise<Surroundings> }

export interface Resource {
  routes: RouteTable
  usesStoreAlone: boolean
  open: (parts: ResourceParts) => Readonly<Record<string, AnyHandler>>
}

const loadEffects = () =>
  pair(import('../contract/resources/safety/effects.ts'), import('../resources/safety/effect-handlers.ts'))
const loadSystem = () =>
  pair(import('../contract/resources/system/system.ts'), import('../resources/system/system-handlers.ts'))
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
  files: () => pair(import('../contract/resources/service/files.ts'), import('../resources/service/file-handlers.ts')),
  tokens: loadTokens,
  sessions: loadTokens,
  audit: () => pair(import('../contract/resources/access/audit.ts'), import('../resources/access/audit-handlers.ts')),
  operations: () => pair(import('../contract/resources/operations.ts'), import('../resources/operation-handlers.ts')),
  alerts: () => pair(import('../contract/resources/system/alerts.ts'), import('../resources/system/alert-handlers.ts')),
  overview: loadSystem,
  hours: loadSystem,
  system: loadSystem,
  search: loadSystem,
  config: loadUpkeep,
  doctor: loadUpkeep,
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
export async function loadOperation(name: RouteName): Promise<{ spec: RouteSpec; resource: Resource } | null> {
  const [, word = ''] = /^\w+ \/(\w+)/.exec(name) ?? []
  const found = await RESOURCES[word]?.()
  const resource = found && { ...found, usesStoreAlone: STORE_ALONE.has(word) }
  const spec = resource?.routes[name]
  return resource && spec ? { spec, resource } : null
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
  return { routes, usesStoreAlone: false, open }
}
