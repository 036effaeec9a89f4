import { includesRole } from '../../core/access/role.ts'
import { UpshotError } from '../../core/errors.ts'
import { asOperator } from '../../core/store/as-operator.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { type Caller, describeOperator } from '../access/caller.ts'
import type { CallerLimits } from '../access/caller-limits.ts'
import type { RouteSpec, WorkDone } from '../contract/route.ts'
import type { RouteName } from '../contract/routes.ts'
import { maskCallbacks } from '../views/run-view.ts'
import type { AnyHandler, Call } from './handler.ts'

export interface PerformParts {
  /** Left out where there is one caller, who waits for nobody. */
  limits?: CallerLimits
  clock: Clock
  store: Pick<Store, 'recordAction' | 'operate' | 'carryOutDecision'>
}

export interface Operation {
  spec: RouteSpec
  handler: AnyHandler
}

/** The input of a call before it is checked. */
export interface Given {
  params: Record<string, string>
  query: Record<string, unknown>
  body: unknown
}

/** The asker, and what comes along beside the input. */
interface Asker {
  caller: Caller
  signal: AbortSignal
  tell: ((work: WorkDone) => void) | undefined
  onceKey: string | null | undefined
  /** Left out where no login ends, as beside the database. */
  mayGoOn?: () => Promise<boolean>
  /** Performs the handler, or has the answer of an earlier call. */
  once?: ((act: () => Promise<unknown>) => Promise<unknown>) | undefined
}

/**
 * Performs an operation for a caller, from whichever door: under its role and limits. Throws
 * `ZodError` for unfit input, which each door tells in its form. `more` goes to the handler.
 */
export async function perform(
  parts: PerformParts,
  { spec, handler }: Operation,
  given: Given,
  { caller, signal, tell = () => {}, onceKey = null, once, mayGoOn = async () => true }: Asker,
  more: object = {},
): Promise<unknown> {
  const { limits, clock, store } = parts
  const now = clock.now()
  await requireRole(store, { spec, caller, target: nameTarget(given.params), now })
  if (spec.audit !== undefined && spec.role !== 'anyone') limits?.countAction(caller, now)
  const { params } = given
  const [query, body] = [spec.query?.parse(given.query), spec.body?.parse(given.body)]
  const operator = describeOperator(caller, readReason(body) ?? readReason(query))
  const record: Call<RouteName>['record'] = (target, parameters = {}, outcome = 'begun') =>
    store.recordAction({ ...operator, action: spec.audit ?? '', target, parameters, at: clock.now() }, outcome)
  const writes = spec.audit === undefined ? null : asOperator(store, operator, clock)
  const call = { params, query, body, caller, operator, writes, record, now, signal, tell, onceKey, mayGoOn, ...more }
  const act = () => handler(call as never)
  const answer = await (once ? once(act) : spec.isSearch && limits ? limits.search(caller, act) : act())
  return spec.form === undefined ? maskCallbacks(answer) : answer
}

/** The row that an action is about, as far as its path names one. */
export function nameTarget(params: Record<string, string>): string | null {
  return params.id ?? params.name ?? null
}

function readReason(input: unknown): string | null {
  const reason = typeof input === 'object' && input !== null && 'reason' in input ? input.reason : null
  return typeof reason === 'string' ? reason : null
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
