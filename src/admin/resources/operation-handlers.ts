import { refuse, UpshotError } from '../../core/errors.ts'
import { firstId, newId } from '../../core/ids.ts'
import { planReset } from '../../core/runs/step.ts'
import type { BulkOperation, BulkPlan, BulkRefusal } from '../../core/safety/bulk.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime, momentOf, waitUntil } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { OPERATION_ROUTES } from '../contract/resources/operations.ts'
import { MAX_FIRST, readTargets, type Target, type TargetPart } from '../operations/bulk-runner.ts'
import type { Call, Handlers } from '../perform/handler.ts'
import type { Work } from '../ports/surroundings.ts'
import { decodePosition, wholePage } from '../queries/read-page.ts'
import { given } from '../queries/read-query.ts'
import { readRunFilter } from '../queries/read-run-filter.ts'
import { requireOperation } from '../queries/require-row.ts'
import { describeAsked } from '../views/run-view.ts'
import type { ResourceParts } from './parts.ts'

export function operationHandlers(parts: ResourceParts): Handlers<keyof typeof OPERATION_ROUTES> {
  const { store } = parts
  return {
    async 'GET /operations'({ query: { limit, after }, caller }) {
      const operations = await store.listBulks({ ...given({ before: decodePosition(after, /^opr_\w+$/) }), limit })
      return wholePage(operations, {
        limit,
        items: operations.map((each) => describeOperation(each, caller)),
        momentOf: ({ createdAt }) => createdAt,
      })
    },
    async 'GET /operations/:id'({ params, caller }) {
      const operation = await requireOperation(store, params.id)
      return { operation: describeOperation(operation, caller), refusals: await store.listBulkRefusals(operation.id) }
    },
    async 'GET /operations/:id/progress'({ params, ...asker }) {
      const { id } = await requireOperation(store, params.id)
      return followOperation(parts, id, asker)
    },
    async 'POST /operations'(call) {
      const { body, operator, now } = call
      const { kind, filter, perSecond } = body
      const selected = await readRunFilter(store, filter, call)
      if (Object.keys(selected).length === 0) {
        throw refuse('A filter that selects every run is refused.', 'Name a status, a workflow or a time.')
      }
      if (kind === 'resolve' && operator.reason === null) {
        throw new UpshotError('invalid_request', 'Resolving a run needs a reason, and none was given.', {
          fix: 'Say in `reason` what was done, such as "copied by hand".',
        })
      }
      const id = newId('opr', now)
      const frozen = { ...selected, before: firstId('run', now) }
      const plan = { id, kind, filter: frozen, operator, perSecond, createdAt: now }
      return startOperation(parts, plan, call)
    },
    async 'POST /operations/:id/abort'({ params, caller, writes, now }) {
      const { id, status } = await requireOperation(store, params.id)
      if (!(await writes.abortBulk(id, now))) {
        throw new UpshotError('conflict', `Operation ${id} is ${status} already.`)
      }
      return describeOperation(await requireOperation(store, id), caller)
    },
  }
}

/** How often a process looks how far an operation has come, which another may work on. */
const LOOK_MS = 100
/** A proxy may close a stream that is silent for longer. */
const SILENT_MS = 15_000

/** The operation now, after each change, and at its end. */
async function* followOperation(
  { store, clock }: ResourceParts,
  id: string,
  { caller, signal, mayGoOn }: Pick<Call<'GET /operations'>, 'caller' | 'signal' | 'mayGoOn'>,
) {
  let checkedAt = clock.now()
  for (let told = { state: '', at: 0 }; !signal.aborted; ) {
    const operation = await requireOperation(store, id)
    const { status, done, refused, count } = operation
    const state = JSON.stringify([status, done, refused, count.total])
    const now = clock.now()
    if (state !== told.state || now - told.at >= SILENT_MS) {
      yield describeOperation(operation, caller)
      told = { state, at: now }
    }
    if (operation.endedAt !== null) return
    await waitUntil(clock, now + LOOK_MS, signal).catch(() => {})
    if (Math.abs(clock.now() - checkedAt) < SILENT_MS) continue
    checkedAt = clock.now()
    if (!(await mayGoOn())) return
  }
}

/** Starts an operation, or foresees it: a dry run leaves no row. */
export async function startOperation(
  { store, runner }: ResourceParts,
  plan: BulkPlan,
  { body, writes, ...work }: Call<'POST /operations'> | Call<'POST /events/replay'>,
) {
  if (!body.isDryRun) {
    await writes.startBulk(plan)
    runner.wake()
    return describeOperation(await requireOperation(store, plan.id), work.caller)
  }
  const { examples, refusals, total, runs, ...counts } = await foreseeOperation(store, plan, work)
  const count = { total, runs, first: examples.slice(0, MAX_FIRST).map(({ target }) => target) }
  const state = { status: 'done', cursor: null, done: 0, refused: 0, endedAt: plan.createdAt, count } as const
  const told = describeOperation({ ...plan, ...state }, work.caller)
  return { ...told, ...counts, isDryRun: true, foreseen: { examples, refusals } }
}

function describeOperation(operation: BulkOperation, caller: Pick<Caller, 'role'>) {
  const { id, kind, status, filter, operator, perSecond, count, done, refused } = operation
  const routes = kind === 'replay' ? operation.routes : []
  return {
    workflows: [...new Set(routes.map(({ workflow }) => workflow))],
    id,
    kind,
    status,
    perSecond,
    done,
    refused,
    ...count,
    isDryRun: false,
    writes: 0,
    deletes: 0,
    foreseen: null,
    filter: describeAsked(filter, caller),
    by: operator.actor,
    reason: operator.reason,
    createdAt: isoTime(operation.createdAt),
    endedAt: momentOf(operation.endedAt),
  }
}

/** Rows that one read looks at. */
const ROWS = 5_000
/** Runs or events, and refusals, that are told. */
const SHOWN = 20

type ForeseeStore = Pick<ReadStore, 'searchRuns' | 'walkEvents' | 'listSteps'>

/** The outcome that an operation would have. */
interface Foreseen {
  /** Runs or events that it fits, and the first 20 of them. */
  total: number
  examples: { target: string; about: string }[]
  /** Those that it does not fit, and the first 20 of them with the reason. */
  refused: number
  refusals: BulkRefusal[]
  /** Of a replay: the new runs. */
  runs: number
  /** Steps of the runs that would happen again. */
  writes: number
  deletes: number
}

/** Counts as the operation itself does, and writes nothing. Ends early where the asker is gone. */
export async function foreseeOperation(store: ForeseeStore, plan: BulkPlan, { signal, tell }: Work): Promise<Foreseen> {
  const foreseen: Foreseen = { total: 0, examples: [], refused: 0, refusals: [], runs: 0, writes: 0, deletes: 0 }
  for (let after: string | null = null; ; ) {
    signal.throwIfAborted()
    const slice = { rows: ROWS, limit: ROWS, after }
    const part: TargetPart = await readTargets(store, plan, slice, plan.createdAt)
    for (const target of part.targets) {
      add(foreseen, target)
      if (target.why === null) await addRepeated(store, foreseen, { plan, target })
    }
    tell({ done: foreseen.total + foreseen.refused, total: null })
    if (part.next === null) return foreseen
    after = part.next
  }
}

function add(foreseen: Foreseen, { id, why, workflows, of }: Target): void {
  if (why !== null) {
    foreseen.refused += 1
    if (foreseen.refusals.length < SHOWN) foreseen.refusals.push({ target: id, why })
    return
  }
  foreseen.total += 1
  foreseen.runs += workflows.length
  const about = 'status' in of ? `${of.workflow}  ${of.status}` : `${of.type}  ${workflows.join(', ')}`
  if (foreseen.examples.length < SHOWN) foreseen.examples.push({ target: id, about })
}

/** Adds the steps that would happen again. */
async function addRepeated(
  store: ForeseeStore,
  foreseen: Foreseen,
  { plan: { kind }, target: { id, of } }: { plan: BulkPlan; target: Target },
): Promise<void> {
  if (kind !== 'retry' && kind !== 'restart') return
  const steps = await store.listSteps(id, 0)
  const error = 'error' in of ? of.error : null
  const repeated = new Set(kind === 'restart' ? steps.map(({ key }) => key) : planReset(steps, error))
  for (const { effect } of steps.filter(({ key }) => repeated.has(key))) {
    if (effect === 'write') foreseen.writes += 1
    if (effect === 'delete') foreseen.deletes += 1
  }
}
