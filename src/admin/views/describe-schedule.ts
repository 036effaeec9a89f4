import type { z } from 'zod'
import type { ScheduleRecord } from '../../core/runs/schedule.ts'
import { isoTime, momentOf, withIsoTimes } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { SCHEDULE_ROUTES } from '../contract/resources/schedules.ts'
import { seesPayloads } from './run-view.ts'

type ScheduleView = z.input<(typeof SCHEDULE_ROUTES)['GET /schedules/:name']['answer']>

/** A schedule as the API gives it. `ahead`: the first of its moments from now on. */
export function describeSchedule(
  { plan, version: _, ...rest }: ScheduleRecord & { version?: number },
  { caller, ahead }: { caller: Pick<Caller, 'role'>; ahead: readonly number[] },
): ScheduleView {
  const { input, workflow } = rest
  const { line = plan } = plan.kind === 'backfill' ? plan : {}
  if (line.kind === 'backfill') throw new TypeError('A backfill is of a line.')
  const { catchUp, withinMs, overlap, accounts } = line
  const cron = line.kind === 'cron' ? line : null
  const fill = plan.kind === 'backfill' ? plan : null
  const content = input === null ? null : JSON.parse(input)
  return {
    ...withIsoTimes(rest),
    kind: plan.kind,
    catchUp,
    withinMs,
    overlap,
    sends: workflow === null ? content.type : null,
    expression: cron?.expression ?? null,
    timezone: cron?.timezone ?? null,
    at: plan.kind === 'once' ? isoTime(plan.at) : null,
    from: momentOf(fill?.from ?? null),
    to: momentOf(fill?.to ?? null),
    perMinute: fill?.perMinute ?? null,
    accounts: accounts === 'each' ? accounts : [...accounts],
    input: seesPayloads(caller) ? (workflow === null ? JSON.parse(content.body) : content) : null,
    handledAt: momentOf(rest.handledAt === 0 ? null : rest.handledAt),
    nextAt: momentOf(ahead[0] ?? null),
    next: ahead.map(isoTime),
  }
}
