import { UpshotError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { toJson } from '../../core/json.ts'
import type { ScheduleRecord } from '../../core/runs/schedule.ts'
import { joinUsual } from '../../core/runs/usual-time.ts'
import type { WorkflowRecord } from '../../core/runs/workflow-record.ts'
import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import { listTickAccounts } from '../../core/service/list-tick-accounts.ts'
import type { RunHour } from '../../core/store/health/hours.ts'
import { listBrokenModules } from '../../core/store/health/list-broken-modules.ts'
import type { KeptShadow } from '../../core/store/health/shadows.ts'
import { isoTime } from '../../core/time.ts'
import type { WORKFLOW_ROUTES } from '../contract/resources/workflows.ts'
import type { Call, Handlers } from '../perform/handler.ts'
import { requireRun } from '../queries/find-run.ts'
import { listUnmatched } from '../queries/list-unmatched.ts'
import { requireAccount, requireSchedule, requireWorkflow } from '../queries/require-row.ts'
import { momentOf } from '../views/moment-of.ts'
import { asCaller, type ResourceParts } from './parts.ts'
import { describeOne } from './run-handlers.ts'

type WorkflowRoute = Extract<keyof typeof WORKFLOW_ROUTES, `${string}/workflows${string}`>
type ScheduleRoute = Exclude<keyof typeof WORKFLOW_ROUTES, WorkflowRoute>

const WEEK_MS = 7 * 86_400_000
/** Runs that are held or released per commit. */
const SLICE = 500
/** Largest input of a run that a program starts. */
const MAX_INPUT_BYTES = 65_536

/** Workflows and their schedules. */
export function workflowHandlers(parts: ResourceParts): Handlers<keyof typeof WORKFLOW_ROUTES> {
  return { ...handleWorkflows(parts), ...handleSchedules(parts) }
}

function handleWorkflows(parts: ResourceParts): Handlers<WorkflowRoute> {
  const { store } = parts
  const describeOf = async (workflow: string, now: number) => {
    const hours = await store.listRunHours({ since: now - WEEK_MS, workflow })
    return describeWorkflow(await requireWorkflow(store, workflow), hours)
  }
  return {
    async 'GET /workflows'({ now }) {
      const hours = Map.groupBy(await store.listRunHours({ since: now - WEEK_MS }), ({ workflow }) => workflow)
      const workflows = await store.listWorkflows()
      const items = workflows.map((workflow) => describeWorkflow(workflow, hours.get(workflow.id) ?? []))
      const broken = (await listBrokenModules(store, now)).map(({ file, reason }) => ({ file, reason }))
      return { items, broken, unmatched: await listUnmatched(store) }
    },
    async 'GET /workflows/:id'({ params, now }) {
      const shadows = (await store.listShadows(params.id)).map(describeShadow)
      return { ...(await describeOf(params.id, now)), shadows }
    },
    async 'DELETE /workflows/:id'({ params, caller, now, query }) {
      const { id } = await requireWorkflow(store, params.id)
      await asCaller(parts, { caller, body: query }).removeWorkflow(id, now)
      return undefined
    },
    async 'POST /workflows/:id/pause'({ params, caller, body, now }) {
      const { id } = await requireWorkflow(store, params.id)
      await asCaller(parts, { caller, body }).pauseWorkflow(id, now)
      while ((await store.holdRuns(id, SLICE)) > 0);
      return describeOf(id, now)
    },
    async 'POST /workflows/:id/resume'({ params, caller, body, now }) {
      const { id } = await requireWorkflow(store, params.id)
      await asCaller(parts, { caller, body }).resumeWorkflow(id)
      while ((await store.releaseHeldRuns(id, SLICE)) > 0);
      return describeOf(id, now)
    },
    async 'POST /workflows/:id/start'({ params, caller, body, now }) {
      const workflow = await requireWorkflow(store, params.id)
      requireCallable(workflow)
      const input = toJson(body.input, 'The input')
      if (Buffer.byteLength(input) > MAX_INPUT_BYTES) {
        throw new UpshotError(
          'body_too_large',
          `The input has more than ${MAX_INPUT_BYTES} bytes. Pass ids, not content.`,
        )
      }
      const id = newId('run', now)
      const start = { run: id, workflow: workflow.id, account: body.account, input, createdAt: now }
      await asCaller(parts, { caller, body }).startRun(start)
      return describeOne(store, await requireRun(store, id), caller)
    },
  }
}

function handleSchedules(parts: ResourceParts): Handlers<ScheduleRoute> {
  const { store, surroundings } = parts
  const describe = (schedule: ScheduleRecord, now: number) => {
    const [nextAt] = schedule.pausedAt === null ? surroundings.nextTicks(schedule.trigger, now, 1) : []
    return { ...describeSchedule(schedule), nextAt: momentOf(nextAt ?? null) }
  }
  const pause = async ({ params, caller, body, now }: Call<'POST /schedules/:workflow/pause'>, isPaused: boolean) => {
    await requireSchedule(store, params.workflow)
    await asCaller(parts, { caller, body }).pauseSchedule(params.workflow, isPaused, now)
    return describe(await requireSchedule(store, params.workflow), now)
  }
  return {
    'GET /schedules': async ({ now }) => ({
      items: (await store.listSchedules()).map((schedule) => describe(schedule, now)),
    }),
    'GET /schedules/:workflow': async ({ params, now }) => describe(await requireSchedule(store, params.workflow), now),
    async 'GET /schedules/:workflow/next'({ params, query, now }) {
      const { trigger } = await requireSchedule(store, params.workflow)
      return { items: surroundings.nextTicks(trigger, now, query.count).map(isoTime) }
    },
    'POST /schedules/:workflow/pause': (call) => pause(call, true),
    'POST /schedules/:workflow/resume': (call) => pause(call, false),
    async 'POST /schedules/:workflow/run'({ params, caller, body, now }) {
      const { workflow, trigger } = await requireSchedule(store, params.workflow)
      const scheduledFor = body.scheduledFor === undefined ? now : Date.parse(body.scheduledFor)
      const options = { overlap: trigger.overlap === 'allow' ? 'allow' : 'queue', isManual: true } as const
      const writes = asCaller(parts, { caller, body })
      const accounts =
        body.account === undefined ? await listTickAccounts(trigger, () => store.listAccounts()) : [body.account]
      if (body.account !== undefined && body.account !== DEFAULT_ACCOUNT) await requireAccount(store, body.account)
      const runs: string[] = []
      for (const account of accounts) {
        const id = await writes.recordTick(workflow, { scheduledFor, missed: 0 }, now, { ...options, account })
        if (id !== null) runs.push(id)
      }
      const [first] = runs
      if (first !== undefined) return describeOne(store, await requireRun(store, first), caller)
      throw new UpshotError('conflict', `The workflow ${workflow} has a tick at this moment already.`)
    },
  }
}

/** A workflow without event types and schedule is one that an input starts. */
function requireCallable({ id, eventTypes, schedule }: WorkflowRecord): void {
  if (eventTypes.length === 0 && schedule === null) return
  const fix =
    schedule === null
      ? `Send an event of one of its types: ${eventTypes.join(', ')}.`
      : `Make a tick: upshot schedules run ${id}`
  throw new UpshotError('conflict', `The workflow "${id}" is not callable.`, { details: { fix } })
}

function describeWorkflow(
  { loadedAt, pausedAt, priority = 0, runTimeoutMs, ...rest }: WorkflowRecord,
  hours: readonly RunHour[],
) {
  return {
    ...rest,
    usual: joinUsual(hours.filter(({ status }) => status === 'completed')),
    priority,
    runTimeoutMs: runTimeoutMs ?? null,
    loadedAt: isoTime(loadedAt),
    pausedAt: momentOf(pausedAt),
  }
}

function describeShadow({ code, book }: KeptShadow) {
  const { file, since, followed, late, missed, found } = book
  const { runs, answered, same, groups, cannotSay } = found
  const moments = { since: isoTime(since), followed: isoTime(followed) }
  return { file, code, ...moments, late: late.length, missed, runs, answered, same, groups, cannotSay }
}

function describeSchedule({ trigger, startedAt, lastTickAt, pausedAt, ...rest }: ScheduleRecord) {
  const { kind: _, ...line } = trigger
  const moments = { startedAt: momentOf(startedAt), lastTickAt: momentOf(lastTickAt), pausedAt: momentOf(pausedAt) }
  return { ...rest, ...line, ...moments }
}
