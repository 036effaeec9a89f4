import type { Command } from '@commander-js/extra-typings'
import type { ShadowBook } from '../../../core/safety/shadow-book.ts'
import { listShadows } from '../../../project/workflows/list-shadows.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { formatMoment, withIsoTimes } from '../../terminal/format-value.ts'
import { formatSection, formatTable, indented } from '../../terminal/table.ts'
import { describeRun, runColumns } from '../runs/run-view.ts'
import { formatNumber } from '../safety/backtest/backtest-view.ts'
import { describeTrigger, describeWorkflow, requireWorkflow, withNextTime } from './workflow-view.ts'

const RUNS_SHOWN = 10

/** `upshot workflows show <id>`: its trigger, schedule, state and newest runs. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the workflow').action((id) =>
    project.withStore(async (store, { workflowsDir }) => {
      const now = commandClock.now()
      const workflow = await requireWorkflow(store, id)
      const record = (await store.listSchedules()).find((schedule) => schedule.workflow === id)
      const schedule = record ? withNextTime(record, now) : null
      const runs = await store.listRuns({ limit: RUNS_SHOWN, workflow: id })
      const modules = await listShadows(workflowsDir)
      const shadow = (await store.listShadows(id)).find(({ code }) => modules.some((each) => each.code === code))
      const { pausedAt, held } = workflow
      const paused = `paused since ${formatMoment(pausedAt, now)}, ${held} runs held`
      out.result(
        { ...describeWorkflow(workflow), schedule: schedule && withIsoTimes(schedule), runs: runs.map(describeRun) },
        () => [
          out.paint('bold', id),
          `  on        ${describeTrigger(workflow)}`,
          `  state     ${pausedAt === null ? 'active' : out.paint('yellow', paused)}`,
          `  module    ${workflow.file}, loaded ${formatMoment(workflow.loadedAt, now)}`,
          ...(shadow ? [`  shadow    ${describeShadow(shadow.book)}`] : []),
          ...(schedule ? [`  last      ${formatMoment(schedule.lastTickAt, now) ?? '–'}`] : []),
          ...(schedule ? [`  next      ${formatMoment(schedule.nextAt, now) ?? '–'}`] : []),
          ...formatSection('Newest runs', formatTable(runs, runColumns(now), indented(out)), out.paint),
        ],
      )
    }),
  )
}

function describeShadow({ file, found: { runs, same } }: ShadowBook): string {
  return `${file}, the same in ${formatNumber(same)} of ${formatNumber(runs)} runs`
}
