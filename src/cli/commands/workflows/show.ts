import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { call, type Operations } from '../../open/operations.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import { formatSection, formatTable, indented } from '../../terminal/table.ts'
import { runColumns } from '../runs/run-view.ts'
import { describeTrigger } from './workflow-view.ts'

const RUNS_SHOWN = 10

/** `upshot workflows show <id>`: its trigger, schedule, state and newest runs. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the workflow').action((id) =>
    project.withOperations(async (operations) => {
      const now = commandClock.now()
      const workflow = await call(operations, 'GET /workflows/:id', { params: { id } })
      const schedule = await findSchedule(operations, workflow)
      const { items: runs } = await call(operations, 'GET /runs', { query: { workflow: id, limit: RUNS_SHOWN } })
      const { pausedAt, held } = workflow
      const paused = `paused since ${formatMoment(pausedAt, now)}, ${held} runs held`
      out.result({ ...workflow, schedule, runs }, () => [
        out.paint('bold', id),
        `  on        ${describeTrigger(workflow)}`,
        `  state     ${pausedAt === null ? 'active' : out.paint('yellow', paused)}`,
        `  module    ${workflow.file}, loaded ${formatMoment(workflow.loadedAt, now)}`,
        ...(schedule ? [`  last      ${formatMoment(schedule.lastTickAt, now) ?? '–'}`] : []),
        ...(schedule ? [`  next      ${formatMoment(schedule.nextAt, now) ?? '–'}`] : []),
        ...formatSection('Newest runs', formatTable(runs, runColumns(now), indented(out)), out.paint),
      ])
    }),
  )
}

type Details = AnswerOf<'GET /workflows/:id'>

/** Null for a workflow that events start; its schedule may be gone meanwhile. */
async function findSchedule(operations: Operations, { id, schedule }: Details) {
  if (schedule === null) return null
  return call(operations, 'GET /schedules/:name', { params: { name: id } }).catch((error: unknown) => {
    if (error instanceof UpshotError && error.code === 'not_found') return null
    throw error
  })
}
