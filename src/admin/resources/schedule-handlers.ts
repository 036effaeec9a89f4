import { refuse, UpshotError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Run } from '../../core/runs/run.ts'
import {
  type BackfillPlan,
  type CronTrigger,
  describeTakenSchedule,
  MAX_BACKFILL,
  type NewSchedule,
  type OncePlan,
  requireScheduleName,
  type ScheduleRecord,
} from '../../core/runs/schedule.ts'
import { DEFAULT_ACCOUNT, listTickAccounts } from '../../core/service/account.ts'
import { type GivenRules, planCron, planOnce } from '../../core/service/plan-schedule.ts'
import { requireFit } from '../../core/service/require-fit.ts'
import { isoTime, momentOf } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { SCHEDULE_ROUTES } from '../contract/resources/schedules.ts'
import type { Call, Handlers } from '../perform/handler.ts'
import { listMade, listNextTicks } from '../queries/list-next-ticks.ts'
import { decodePosition, wholePage } from '../queries/read-page.ts'
import { given } from '../queries/read-query.ts'
import { requireAccount, requireRun, requireSchedule, requireWorkflow } from '../queries/require-row.ts'
import { describeSchedule } from '../views/describe-schedule.ts'
import { describeRuns } from '../views/run-view.ts'
import type { ResourceParts } from './parts.ts'
import { readInput, requireCallable } from './workflow-handlers.ts'

type Named = ScheduleRecord & { workflow: string }
type Given = Call<'PATCH /schedules/:name'>['body']
type Acts = 'pause' | 'resume' | 'run'
type Edits = 'POST /schedules' | 'PATCH /schedules/:name' | 'DELETE /schedules/:name'
type Backfills = 'GET /schedules/:name/backfill' | 'POST /schedules/:name/backfill'

/** Schedules: cron lines of modules, and what people and code added. */
export function scheduleHandlers(parts: ResourceParts): Handlers<keyof typeof SCHEDULE_ROUTES> {
  const { store } = parts
  const describe = showIn(parts)
  return {
    async 'GET /schedules'({ query: { limit, after, ...filter }, caller, now }) {
      const from = decodePosition(after, /^[\w-]+$/)
      const schedules = await store.listSchedules({ limit, ...given({ after: from }), ...given(filter) })
      return wholePage(schedules, {
        limit,
        items: await Promise.all(schedules.map((schedule) => describe(schedule, caller, now))),
        momentOf: ({ createdAt }) => createdAt,
      })
    },
    'GET /schedules/:name': async ({ params, caller, now }) =>
      describe(await requireSchedule(store, params.name), caller, now),
    ...handleEdits(parts),
    ...handleActs(parts),
    ...handleBackfills(parts),
  }
}

function handleEdits(parts: ResourceParts): Handlers<Edits> {
  const { store } = parts
  const describe = showIn(parts)
  return {
    async 'POST /schedules'({ body, caller, operator, writes, now }) {
      const { name } = body
      requireScheduleName(name)
      const workflow = await requireWorkflow(store, body.workflow)
      requireCallable(workflow)
      const plan = await readPlan(parts, body, null, now)
      const input = readInput(body.input)
      requireFit(workflow, body.input ?? null)
      const made = { id: newId('sch', now), owner: 'person', madeBy: operator.actor } as const
      const schedule = { ...made, name, workflow: workflow.id, plan, input }
      if (body.isDryRun) {
        if ((await store.findSchedule(name)) !== null) throw describeTakenSchedule(name)
        return describe(foresee(schedule, now), caller, now)
      }
      await writes.addSchedule(schedule, now)
      return describe(await requireSchedule(store, schedule.id), caller, now)
    },
    async 'PATCH /schedules/:name'({ params, body, caller, writes, now }) {
      const before = await requireEditable(parts, params.name)
      if (before.plan.kind === 'backfill' || before.workflow === null) {
        const what = before.workflow === null ? 'sends an event' : 'is a backfill'
        throw new UpshotError('conflict', `The schedule "${before.name}" ${what}, which is not edited.`, {
          fix: `Remove it with "upshot schedules remove ${before.name}", and make another one.`,
        })
      }
      const plan = await readPlan(parts, body, before.plan, now)
      const input = body.input === undefined ? before.input : readInput(body.input)
      requireFit(await requireWorkflow(store, before.workflow), JSON.parse(input ?? 'null'))
      const { id, name, workflow } = before
      if (body.isDryRun) return describe({ ...before, plan, input }, caller, now)
      await writes.editSchedule({ id, name, workflow, plan, input }, now)
      return describe(await requireSchedule(store, id), caller, now)
    },
    async 'DELETE /schedules/:name'({ params, writes }) {
      const { id, name } = await requireEditable(parts, params.name)
      await writes.removeSchedule({ id, name })
      return undefined
    },
  }
}

function handleActs(parts: ResourceParts): Handlers<`POST /schedules/:name/${Acts}`> {
  const { store } = parts
  const describe = showIn(parts)
  const pause = async ({ params, caller, writes, now }: Call<'POST /schedules/:name/pause'>, isPaused: boolean) => {
    const { id } = await requireSchedule(store, params.name)
    await writes.pauseSchedule(id, isPaused, now)
    return describe(await requireSchedule(store, id), caller, now)
  }
  return {
    'POST /schedules/:name/pause': (call) => pause(call, true),
    'POST /schedules/:name/resume': (call) => pause(call, false),
    async 'POST /schedules/:name/run'({ params, caller, body, writes, now }) {
      const { id, name, plan } = await requireRunning(parts, params.name)
      const scheduledFor = body.scheduledFor === undefined ? now : Date.parse(body.scheduledFor)
      const options = { overlap: plan.overlap === 'allow' ? 'allow' : 'queue', isManual: true } as const
      const accounts =
        body.account === undefined ? await listTickAccounts(plan, () => store.listAccounts()) : [body.account]
      if (body.account !== undefined && body.account !== DEFAULT_ACCOUNT) await requireAccount(store, body.account)
      const runs: Run[] = []
      for (const account of accounts) {
        const run = await writes.recordTick(id, { scheduledFor, missed: 0 }, now, { ...options, account })
        if (run != null) runs.push(await requireRun(store, run))
      }
      if (runs.length > 0) return { items: await describeRuns(store, runs, caller) }
      throw new UpshotError('conflict', `The schedule ${name} has a tick at this moment already.`)
    },
  }
}

function handleBackfills(parts: ResourceParts): Handlers<Backfills> {
  const { store } = parts
  return {
    async 'GET /schedules/:name/backfill'({ params, query, now }) {
      const schedule = await requireRunning(parts, params.name)
      const moments = listPast(parts, schedule, readStretch(query, now))
      const [first = null, last = null] = [moments[0], moments.at(-1)]
      const limit = MAX_BACKFILL
      const ran =
        first === null || last === null ? [] : await listMade(store, schedule, { from: first, to: last, limit })
      const past = new Set(moments)
      return {
        moments: moments.length,
        ran: ran.filter((moment) => past.has(moment)).length,
        first: momentOf(first),
        last: momentOf(last),
      }
    },
    async 'POST /schedules/:name/backfill'({ params, body, caller, operator, writes, now }) {
      const schedule = await requireRunning(parts, params.name)
      const { id: of, workflow, plan: line } = schedule
      const stretch = readStretch(body, now)
      if (listPast(parts, schedule, stretch).length === 0) {
        throw refuse(`The schedule "${schedule.name}" has no moment in this stretch.`, 'Name another one.')
      }
      const id = newId('sch', now)
      const plan: BackfillPlan = { kind: 'backfill', of, line, ...stretch, perMinute: body.perMinute }
      const made = {
        id,
        owner: 'person',
        madeBy: operator.actor,
        name: `${schedule.name}.backfill-${id.slice(-6)}`,
      } as const
      await writes.addSchedule({ ...made, workflow, plan, input: null }, now)
      return showIn(parts)(await requireSchedule(store, id), caller, now)
    },
  }
}

function foresee(schedule: NewSchedule, now: number): ScheduleRecord {
  const counts = { missed: 0, skipped: 0, suppressed: 0, unfinished: 0, handledAt: 0 }
  const moments = { createdAt: now, startedAt: now, nextAt: now, doneAt: null, pausedAt: null }
  return { ...schedule, ...counts, ...moments, lastTickAt: null, lastRun: null }
}

/** Moments of a schedule that are shown ahead. */
const AHEAD = 5

function showIn(parts: ResourceParts) {
  return async (schedule: ScheduleRecord, caller: Caller, now: number) =>
    describeSchedule(schedule, { caller, ahead: await listNextTicks(parts, schedule, { now, count: AHEAD }) })
}

/** A schedule that starts runs at moments of its own. */
async function requireRunning({ store }: ResourceParts, named: string): Promise<Named & { plan: CronTrigger }> {
  const schedule = await requireSchedule(store, named)
  const { name, workflow, plan } = schedule
  if (workflow === null || plan.kind === 'backfill') {
    const what = workflow === null ? 'sends an event' : 'is a backfill'
    throw new UpshotError('conflict', `The schedule "${name}" ${what}, and has no runs of its own.`)
  }
  // One moment has no past to fill, and is run by hand like a line.
  return { ...schedule, workflow, plan: plan as CronTrigger }
}

async function requireEditable({ store }: ResourceParts, named: string): Promise<ScheduleRecord> {
  const schedule = await requireSchedule(store, named)
  if (schedule.owner !== 'module') return schedule
  throw new UpshotError('conflict', `The schedule "${schedule.name}" is the cron line of ${schedule.madeBy}.`, {
    fix: `Edit "on: cron(…)" in ${schedule.madeBy}, or pause it: upshot schedules pause ${schedule.name}`,
  })
}

/** The plan that a person gives; what is left out stays as it was. Throws `invalid_request`. */
async function readPlan(
  { store, surroundings }: ResourceParts,
  body: Given,
  before: CronTrigger | OncePlan | null,
  now: number,
): Promise<CronTrigger | OncePlan> {
  const { cron = before?.kind === 'cron' && body.at === undefined ? before.expression : undefined, at } = body
  const once =
    at === undefined ? (before?.kind === 'once' && cron === undefined ? before.at : undefined) : Date.parse(at)
  if ((cron === undefined) === (once === undefined)) {
    throw refuse('A schedule has either a cron line or one moment.', 'Give either --cron or --at.')
  }
  if (once !== undefined && body.timezone !== undefined) {
    throw refuse('A moment has its offset from UTC in itself, and no time zone.', 'Leave --timezone out.')
  }
  if (at !== undefined && once !== undefined && once <= now) {
    throw refuse(`The moment ${isoTime(once)} is in the past.`, 'Name a later one, or start the workflow by hand.')
  }
  try {
    const rules = {
      ...(before && keepRules(before)),
      ...readRules(body),
      ...namesOf(body.accounts ?? before?.accounts),
    }
    const plan = once === undefined ? planCron(cron ?? '', rules) : planOnce(once, rules)
    surroundings.nextTicks(plan, now, 1)
    for (const account of plan.accounts === 'each' ? [] : plan.accounts) await requireAccount(store, account)
    return plan
  } catch (error) {
    const isOurs = error instanceof UpshotError && ['invalid_workflow', 'invalid_duration'].includes(error.code)
    throw isOurs ? new UpshotError('invalid_request', error.message) : error
  }
}

function readRules({ timezone, catchUp, within, overlap }: Given): GivenRules {
  return given({ timezone, catchUp, overlap, within: within as GivenRules['within'] })
}

function namesOf(accounts: CronTrigger['accounts'] | undefined): Pick<GivenRules, 'account' | 'accounts'> {
  return accounts === undefined ? {} : accounts === 'each' ? { accounts } : { account: accounts }
}

function keepRules(plan: CronTrigger | OncePlan): GivenRules {
  const { catchUp, withinMs, overlap } = plan
  return { catchUp, overlap, within: withinMs, ...(plan.kind === 'cron' && { timezone: plan.timezone }) }
}

function readStretch(given: { from: string; to: string }, now: number): { from: number; to: number } {
  const { from, to } = { from: Date.parse(given.from), to: Date.parse(given.to) }
  if (from > to) throw refuse('The stretch ends before it begins.', 'Exchange --from and --to.')
  if (to > now) throw refuse('The stretch ends in the future.', 'A backfill is for moments that have passed.')
  return { from, to }
}

/** The moments of a stretch. Throws `invalid_request` for more than a backfill may have. */
function listPast(
  { surroundings }: ResourceParts,
  { name, plan }: { name: string; plan: CronTrigger },
  { from, to }: { from: number; to: number },
): number[] {
  if (plan.kind !== 'cron') throw new UpshotError('conflict', `The schedule "${name}" has one moment only.`)
  const backfill = { kind: 'backfill', of: '', line: plan, from, to, perMinute: 1 } as const
  const moments = surroundings.nextTicks(backfill, from - 1, MAX_BACKFILL + 1)
  if (moments.length <= MAX_BACKFILL) return moments
  throw refuse(
    `The stretch has more than ${MAX_BACKFILL.toLocaleString('en')} moments.`,
    `Fill it in parts: the first ends at ${isoTime(moments[MAX_BACKFILL - 1] ?? from)}.`,
  )
}
