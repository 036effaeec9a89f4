import { type Failure, UpshotError } from '../../core/errors.ts'
import { findLostCause, findObstacle, type Run, type RunFilter, type RunOperation } from '../../core/runs/run.ts'
import { planFork, ROW_OUTPUT_BYTES, stepNameOf } from '../../core/runs/step.ts'
import { findUsual } from '../../core/runs/usual-time.ts'
import type { OperatorWrites } from '../../core/store/operator-writes.ts'
import { readChain } from '../../core/store/runs.ts'
import { searchPage } from '../../core/store/search.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Caller } from '../access/caller.ts'
import type { RUN_ROUTES } from '../contract/resources/runs.ts'
import type { Call, Handlers } from '../perform/handler.ts'
import { findAbsorber } from '../queries/find-absorber.ts'
import { decodePosition, encodePosition, readPage } from '../queries/read-page.ts'
import { readRunFilter } from '../queries/read-run-filter.ts'
import { requireRun } from '../queries/require-row.ts'
import { describeRuns, describeStep, maskValue, seesPayloads } from '../views/run-view.ts'
import type { ResourceParts } from './parts.ts'
import { readRunDetails } from './read-run-details.ts'

/** Completed runs that tell what is usual. */
const MAX_USUAL = 20
/** Runs of one relation that are listed. */
const MAX_RELATED = 100
/** The key in the reason of a run that waits for the answer to a question. */
const ASKING = /^waits for people in step "(.*?)": /s

type RunRoute = keyof typeof RUN_ROUTES
type RunAction = Extract<RunRoute, `POST ${string}`>

/** Runs, their steps and outputs, and what a person does with a run. */
export function runHandlers(parts: ResourceParts): Handlers<RunRoute> {
  return { ...runReads(parts), ...runActions(parts) }
}

function runReads({ store, openLists, surroundings }: ResourceParts): Handlers<Exclude<RunRoute, RunAction>> {
  return {
    'GET /runs': async ({ query, now, caller, signal }) => {
      const lists = await openLists()
      const filter = await readRunFilter(store, query, { now, caller })
      return readPage(
        { query, signal, position: /^run_\w{1,100}$/ },
        (slice) => lists.searchRuns(filter, slice),
        (runs) => describeRuns(lists, runs, caller),
      )
    },
    'GET /runs/:id/details': async ({ params, query, caller, now }) =>
      readRunDetails(store, await requireRun(store, params.id), { caller, most: query.steps, now }),
    async 'GET /runs/:id'({ params, caller }) {
      return describeOne(store, await requireRun(store, params.id), caller)
    },
    'GET /runs/:id/usual': async ({ params }) => readUsual(store, await requireRun(store, params.id)),
    async 'GET /runs/:id/steps'({ params, query }) {
      const { id } = await requireRun(store, params.id)
      const steps = await store.listSteps(id, 0)
      const failures = Map.groupBy(await store.listStepFailures(id), ({ key }) => key)
      const from = Number(decodePosition(query.after, /^\d+$/) ?? 0)
      const page = steps.slice(from, from + query.limit)
      const end = from + page.length
      return {
        items: page.map((step) => describeStep(step, failures.get(step.key))),
        next: end < steps.length ? encodePosition(String(end)) : null,
        total: steps.length,
      }
    },
    'GET /runs/:id/steps/:key/output': async ({ params, caller }) =>
      readOutput(store, (await requireRun(store, params.id)).id, params.key, caller),
    'GET /runs/:id/output': async ({ params, caller }) =>
      readOutput(store, (await requireRun(store, params.id)).id, null, caller),
    async 'GET /runs/:id/source'({ params, query }) {
      const run = await requireRun(store, params.id)
      const { error, at } =
        query.step === undefined ? { error: run.error, at: run.finishedAt } : await findError(store, run.id, query.step)
      const places = await surroundings.readSource(error?.at ?? [])
      return {
        items: places.map(({ changedAt, ...place }) => ({ ...place, isChanged: at !== null && changedAt > at })),
      }
    },
    async 'GET /runs/:id/related'({ params, caller, now }) {
      const run = await requireRun(store, params.id)
      const describe = (found: Run | null) => found && describeOne(store, found, caller)
      const find = async (id: string | null) => describe(id === null ? null : await store.findRun(id))
      const list = async (filter: RunFilter) => {
        const runs = await store.listRuns({ ...filter, limit: MAX_RELATED })
        return describeRuns(
          store,
          runs.filter(({ id }) => id !== run.id),
          caller,
        )
      }
      const asking = run.status === 'waiting' ? ASKING.exec(run.reason ?? '')?.[1] : undefined
      return {
        parent: await find(run.parentRun),
        origin: await find(run.originRun),
        absorber: await describe(await findAbsorber(store, run)),
        invoked: await list({ parentRun: run.id }),
        derived: await list({ originRun: run.id }),
        chain: await describeRuns(store, await readChain(store, run), caller),
        ofEvent: run.eventId === null ? [] : await list({ eventId: run.eventId }),
        question: asking === undefined ? null : ((await store.findQuestion(run.id, asking, now))?.id ?? null),
      }
    },
  }
}

function runActions(parts: ResourceParts): Handlers<RunAction> {
  const { store } = parts
  const operate = async (
    { params, caller, writes, now, body }: Call<RunAction>,
    operation: RunOperation,
    perform: (writes: OperatorWrites, id: string) => Promise<boolean>,
  ) => {
    const before = await requireRun(store, params.id)
    const isAllowed = findObstacle(operation, before, now) === null
    if (isAllowed && 'isDryRun' in body && body.isDryRun) return describeOne(store, before, caller)
    const isDone = isAllowed && (await perform(writes, before.id))
    if (!isDone) throw describeRefusal(operation, before, now)
    return describeOne(store, await requireRun(store, before.id), caller)
  }
  return {
    'POST /runs/:id/cancel': (call) =>
      operate(call, 'cancel', (writes, id) => writes.cancelRun(id, call.body.reason ?? 'canceled by hand', call.now)),
    'POST /runs/:id/retry': (call) => operate(call, 'retry', (writes, id) => writes.retryRun(id, call.now)),
    'POST /runs/:id/resolve': (call) => {
      const resolution = { by: call.operator.actor, at: call.now, reason: call.body.reason }
      return operate(call, 'resolve', (writes, id) => writes.resolveRun(id, resolution))
    },
    'POST /runs/:id/unresolve': (call) => operate(call, 'unresolve', (writes, id) => writes.unresolveRun(id)),
    'POST /runs/:id/resume': (call) =>
      call.body.skipSleep
        ? skipSleep(parts, call)
        : operate(call, call.body.fromScratch ? 'restart' : 'resume', (writes, id) =>
            writes.resumeRun(id, { fromScratch: call.body.fromScratch }),
          ),
    async 'POST /runs/:id/fork'({ params, body, caller, writes, now }) {
      const source = await requireRun(store, params.id)
      const { fromStep, output } = body
      const keys = planFork(await store.listSteps(source.id, 0), fromStep)
      const edited = output === undefined ? null : { key: fromStep, output: JSON.stringify(output) }
      const id = await writes.forkRun(source.id, { keys, edited }, now)
      return describeOne(store, await requireRun(store, id), caller)
    },
  }
}

/** Ends a sleep, or a pause before an attempt. Throws `conflict` where the run has neither. */
async function skipSleep(
  { store }: ResourceParts,
  { params, body, caller, writes, now }: Call<'POST /runs/:id/resume'>,
) {
  const { id } = await requireRun(store, params.id)
  if (!body.isDryRun && (await writes.skipSleep(id, now)) === null) {
    throw new UpshotError('conflict', `Run ${id} neither sleeps nor pauses before the next attempt of a step.`, {
      fix: `See its state with "upshot runs show ${id}".`,
    })
  }
  return describeOne(store, await requireRun(store, id), caller)
}

/** Why the store did not do it, by the state that the run had. */
function describeRefusal(operation: RunOperation, run: Run, now: number): UpshotError {
  const why = findObstacle(operation, run, now) ?? 'its state has changed meanwhile'
  const isLost = operation === 'retry' && findLostCause(run, now) !== null
  const isAsleep = operation === 'resume' && /^(?:sleeps in|next attempt of) step /.test(run.reason ?? '')
  const fix = isLost
    ? suggestNewRun(run)
    : isAsleep
      ? `End its wait with "upshot runs resume ${run.id} --skip-sleep".`
      : `See its state with "upshot runs show ${run.id}".`
  const verb = operation === 'unresolve' ? 'take back the resolution of' : operation
  return new UpshotError('conflict', `Cannot ${verb} run ${run.id}: ${why}.`, { fix })
}

/** The commands that make a new run in place of one that a retry cannot help. */
function suggestNewRun({ id, eventId, tickAt, workflow }: Run): string {
  const fork = `Keep its finished steps with "upshot runs fork ${id} --from-step <step>"`
  if (eventId !== null) return `${fork}, or begin anew with "upshot events replay ${eventId} --workflow ${workflow}".`
  return tickAt === null ? `${fork}.` : `${fork}, or begin anew with "upshot schedules run ${workflow}".`
}

export async function describeOne(store: ReadStore, run: Run, caller: Caller) {
  const [view] = await describeRuns(store, [run], caller)
  if (view) return view
  throw new UpshotError('internal', `Run ${run.id} has no view.`)
}

async function readOutput(store: ReadStore, id: string, key: string | null, caller: Caller) {
  const json = await store.readOutput(id, key)
  const bytes = Buffer.byteLength(json)
  const isWhole = bytes <= ROW_OUTPUT_BYTES
  if (!seesPayloads(caller)) return { bytes, isWhole, value: isWhole ? maskValue(JSON.parse(json)) : null, text: null }
  if (isWhole) return { bytes, isWhole, value: JSON.parse(json) as unknown, text: null }
  return { bytes, isWhole, value: null, text: Buffer.from(json).subarray(0, ROW_OUTPUT_BYTES).toString() }
}

/** The error of a step, or that of its newest failed attempt, with its moment. */
async function findError(
  store: ReadStore,
  run: string,
  key: string,
): Promise<{ error: Failure | null; at: number | null }> {
  const step = (await store.listSteps(run, 0)).find((each) => each.key === key)
  if (step?.error) return { error: step.error, at: step.finishedAt }
  const failures = (await store.listStepFailures(run)).filter((each) => each.key === key)
  return failures.at(-1) ?? { error: null, at: null }
}

/** The usual times of a workflow and of its steps, as far as a bounded search reaches. */
async function readUsual(store: ReadStore, { workflow }: Run) {
  const { items: runs } = await searchPage((slice) => store.searchRuns({ workflow, status: 'completed' }, slice), {
    limit: MAX_USUAL,
    now: () => performance.now(),
  })
  const byName = new Map<string, number[]>()
  for (const { id } of runs) {
    for (const { key, startedAt, finishedAt } of await store.listSteps(id, 0)) {
      if (finishedAt === null) continue
      const name = stepNameOf(key)
      byName.set(name, [...(byName.get(name) ?? []), finishedAt - startedAt])
    }
  }
  const whole = runs.flatMap(({ startedAt, finishedAt }) =>
    startedAt === null || finishedAt === null ? [] : [finishedAt - startedAt],
  )
  const steps = [...byName].flatMap(([name, durations]) => {
    const usual = findUsual(durations)
    return usual === null ? [] : [{ name, ...usual }]
  })
  return { runs: runs.length, run: findUsual(whole), steps }
}
