import type { Command } from '@commander-js/extra-typings'
import type { ScheduleRecord } from '../../../core/runs/schedule.ts'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { formatMoment, withIsoTimes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { withNextMoment } from '../workflows/workflow-view.ts'

/** `upshot schedules list`: cron lines with their last and next moments, and what had no run. */
export function define(command: Command, out: Output): void {
  command.action(() =>
    withStore(async (store) => {
      const now = systemClock.now()
      const schedules = (await store.listSchedules()).map((schedule) => withNextMoment(schedule, now))
      out.result(schedules.map(withIsoTimes), () => formatTable(schedules, columns(now), out.paint))
      if (schedules.length === 0) out.note('No workflow has a cron line. Write "on: cron(…)" in one.')
    }),
  )
}

function columns(now: number): Column<ScheduleRecord & { nextAt: number | null }>[] {
  return [
    { title: 'WORKFLOW', value: ({ workflow }) => workflow },
    { title: 'CRON', value: ({ trigger }) => trigger.expression },
    { title: 'ZONE', value: ({ trigger }) => trigger.timezone },
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
