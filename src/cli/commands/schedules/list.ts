import type { Command } from '@commander-js/extra-typings'
import type { CronTrigger, ScheduleRecord } from '../../../core/runs/schedule.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { formatMoment, withIsoTimes } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { withNextTime } from '../workflows/workflow-view.ts'

/** `upshot schedules list`: schedules with last and next times, and counts of missed ticks. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withStore(async (store) => {
      const now = commandClock.now()
      const schedules = (await store.listSchedules()).map((schedule) => withNextTime(schedule, now))
      out.result(schedules.map(withIsoTimes), () => formatTable(schedules, columns(now), out))
      if (schedules.length === 0) out.note('No workflow has a schedule. Write "on: cron(…)" in one.')
    }),
  )
}

function describeAccounts({ accounts }: CronTrigger): string {
  return accounts === 'each' ? 'each' : accounts.join(', ')
}

function columns(now: number): Column<ScheduleRecord & { nextAt: number | null }>[] {
  return [
    { title: 'WORKFLOW', value: ({ workflow }) => workflow },
    { title: 'CRON', value: ({ trigger }) => trigger.expression },
    { title: 'ZONE', value: ({ trigger }) => trigger.timezone },
    { title: 'ACCOUNTS', value: ({ trigger }) => describeAccounts(trigger), most: 40 },
    { title: 'LAST', value: ({ lastTickAt }) => formatMoment(lastTickAt, now) },
    { title: 'NEXT', value: ({ nextAt }) => formatMoment(nextAt, now) },
    {
      title: 'STATE',
      value: ({ pausedAt }) => (pausedAt === null ? 'active' : 'paused'),
      style: ({ pausedAt }) => (pausedAt === null ? null : 'yellow'),
    },
    { title: 'UNFINISHED', value: ({ unfinished }) => unfinished, align: 'right' },
    { title: 'MISSED', value: ({ missed }) => missed, align: 'right' },
    { title: 'SKIPPED', value: ({ skipped }) => skipped, align: 'right' },
    { title: 'SUPPRESSED', value: ({ suppressed }) => suppressed, align: 'right' },
  ]
}
