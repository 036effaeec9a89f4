import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { formatMoment, withIsoTimes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { runColumns } from '../runs/list.ts'
import { describeRun } from '../runs/run-view.ts'
import { describeTrigger, describeWorkflow, requireWorkflow, withNextMoment } from './workflow-view.ts'

const RUNS_SHOWN = 10

/** `upshot workflows show <id>`: what starts it, its schedule, and its newest runs. */
export function define(command: Command, out: Output): void {
  command.argument('<id>', 'the workflow').action((id) =>
    withStore(async (store) => {
      const now = systemClock.now()
      const workflow = await requireWorkflow(store, id)
      const record = (await store.listSchedules()).find((schedule) => schedule.workflow === id)
      const schedule = record ? withNextMoment(record, now) : null
      const runs = await store.listRuns({ limit: RUNS_SHOWN, workflow: id })
      const { pausedAt, held } = workflow
      out.result(
        { ...describeWorkflow(workflow), schedule: schedule && withIsoTimes(schedule), runs: runs.map(describeRun) },
        () => [
          out.paint('bold', id),
          `  on        ${describeTrigger(workflow)}`,
          `  state     ${pausedAt === null ? 'active' : out.paint('yellow', `paused since ${formatMoment(pausedAt, now)}, ${held} runs held`)}`,
          `  module    ${workflow.file}, loaded ${formatMoment(workflow.loadedAt, now)}`,
          ...(schedule ? [`  last      ${formatMoment(schedule.lastTickAt, now) ?? '–'}`] : []),
          ...(schedule ? [`  next      ${formatMoment(schedule.nextAt, now) ?? '–'}`] : []),
          ...(runs.length === 0 ? [] : ['', out.paint('bold', 'Newest runs')]),
          ...formatTable(runs, runColumns(now), out.paint).map((line) => `  ${line}`),
        ],
      )
    }),
  )
}
