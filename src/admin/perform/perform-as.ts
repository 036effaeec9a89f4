import { includesRole } from '../../core/access/role.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { type Caller, describeOperator } from '../access/caller.ts'
import type { CallerLimits } from '../access/caller-limits.ts'
import type { RouteSpec, RouteTable, WorkDone } from '../contract/route.ts'
import { maskCallbacks } from '../views/run-view.ts'
import { type AnyHandler, checkInput, type Given } from './handler.ts'

export interface PerformParts {
  routes: RouteTable
  handlers: Readonly<Record<string, AnyHandler>>
  limits: CallerLimits
  clock: Clock
  store: Pick<Store, 'recordAction'>
}

/** Performs an operation for a caller by its name, under its role and limits, as HTTP does. */
export async function performAs(
  { routes, handlers, limits, clock, store }: PerformParts,
  caller: Caller,
  {
    name,
    given,
    signal,
    tell,
  }: { name: keyof RouteTable; given: Given; signal: AbortSignal; tell: (work: WorkDone) => void },
): Promise<unknown> {
  const spec = routes[name] as RouteSpec
  const now = clock.now()
  await requireRole(store, { spec, caller, target: Object.values(given.params)[0] ?? null, now })
  const call = { ...checkInput(spec, given), caller, now, signal, tell, onceKey: null }
  if (spec.audit !== undefined) limits.countAction(caller, now)
  const handle = () => (handlers[name] as AnyHandler)(call as never)
  return maskCallbacks(await (spec.isSearch ? limits.search(caller, handle) : handle()))
}

interface Asked {
  spec: RouteSpec
  caller: Caller
  target: string | null
  now: number
}

/** Throws `forbidden`, with an audit row for a refused action. */
export async function requireRole(
  store: Pick<Store, 'recordAction'>,
  { spec: { role, audit }, caller, target, now }: Asked,
): Promise<void> {
  if (role === 'anyone' || includesRole(caller.role, role)) return
  if (audit !== undefined) {
    const entry = { ...describeOperator(caller, null), action: audit, target, parameters: {}, at: now }
    await store.recordAction(entry, 'refused')
  }
  throw new UpshotError('forbidden', `This needs the role ${role}; "${caller.name}" has the role ${caller.role}.`)
}
