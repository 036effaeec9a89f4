import type { Command } from '@commander-js/extra-typings'
import { WORKFLOW_ROUTES } from '../../admin/contract/resources/workflows.ts'
import type { AnswerOf } from '../../admin/contract/routes.ts'
import { UpshotError } from '../../core/errors.ts'
import { describeBroken, type WorkflowRecord } from '../../core/runs/workflow-record.ts'
import type { Cli } from '../command.ts'
import { parseJsonOption } from '../input/parse-option.ts'
import { readText } from '../input/read-source.ts'
import { call, type Operations } from '../open/operations.ts'
import { actCommand, refrain } from '../operate/act-command.ts'
import { listCommand } from '../operate/list-command.ts'
import { formatMoment } from '../terminal/format-value.ts'
import { formatRows } from '../terminal/table.ts'
import { RUN_COLUMNS } from './runs/run-view.ts'

const ID = ['id', 'id of the workflow'] as const

export const list = listCommand(WORKFLOW_ROUTES, 'GET /workflows', {
  columns: [
    { title: 'WORKFLOW', value: ({ id }) => id },
    { title: 'ON', value: describeTrigger, most: 60 },
    {
      title: 'STATE',
      value: ({ pausedAt }) => (pausedAt === null ? 'active' : `paused since ${formatMoment(pausedAt)}`),
      style: ({ pausedAt }) => (pausedAt === null ? null : 'yellow'),
    },
    { title: 'HELD', value: ({ held }) => held, align: 'right' },
    { title: 'MODULE', value: ({ file }) => file, most: 60 },
    { title: 'LOADED', value: ({ loadedAt }) => formatMoment(loadedAt) },
  ],
  empty: 'No workflow is known yet. The app registers workflows when it starts.',
  after: ({ broken, unmatched }) => [
    ...broken.map(describeBroken),
    ...(unmatched.length === 0 ? [] : [`${describeUnmatched(unmatched)}.`]),
  ],
})

export function start(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of a callable workflow: one with `on: callable(…)`')
    .option('--input <json>', 'the input as JSON (default: null)', parseJsonOption)
    .option('--file <file>', 'file with the input as JSON')
    .option('--account <name>', 'account that it acts for', 'default')
    .option('--once <key>', 'a second start with this key within 24 h starts nothing, and prints the first run')
    .action((id, { input = null, file, account, once }) =>
      project.withOperations(async (operations) => {
        const params = { id }
        if (out.given.dryRun) {
          await call(operations, 'GET /workflows/:id', { params })
          return refrain(out, `start the workflow ${id}`)
        }
        const body = { input: file === undefined ? input : parseJsonOption(readText(file)), account }
        const options = once === undefined ? {} : { idempotencyKey: once }
        const run = await call(operations, 'POST /workflows/:id/start', { params, body }, options)
        out.result(run, () => [run.id])
        out.note(`Show the run: upshot runs show ${run.id}`)
      }),
    )
}

export const pause = actCommand('POST /workflows/:id/pause', {
  argument: ID,
  help: 'A run in progress continues until it ends or waits. Events and ticks are still recorded.',
  look: 'GET /workflows/:id',
  will: (id) => `pause the workflow ${id}`,
  done: ({ id, held }, _, { found }) =>
    `The workflow ${id} ${found.pausedAt === null ? 'is now' : 'was already'} paused; ${held} of its runs are held.`,
  note: ({ id }) => `Resume it with "upshot workflows resume ${id}".`,
})

export const resume = actCommand('POST /workflows/:id/resume', {
  argument: ID,
  look: 'GET /workflows/:id',
  will: (id, found) => `resume the workflow ${id} and its ${found.held} held runs`,
  done({ id }, _, { found }) {
    const { pausedAt, held } = found
    return `The workflow ${id} ${pausedAt === null ? 'was not paused' : 'is resumed'}; ${held} held runs were released.`
  },
})

export const remove = actCommand('DELETE /workflows/:id', {
  argument: ['id', 'id of a workflow whose module is gone'],
  look: 'GET /workflows/:id',
  will: (id) => `remove the workflow ${id}`,
  asks: () => ['its events start no run from now on', 'its runs are kept; unfinished ones wait for its module'],
  data: (_, id) => ({ workflow: id, removed: true }),
  done: (_, id) => `Removed the workflow ${id}.`,
})

/** Types listed by name in one sentence; the others are counted. */
const MAX_NAMED = 5

/** Its trigger, such as `file.*, transfer.completed`, `cron 0 3 * * * (UTC)` or `being invoked`. */
export function describeTrigger({
  eventTypes,
  schedule,
}: Pick<WorkflowRecord, 'eventTypes'> & { schedule: { expression: string; timezone: string } | null }): string {
  return schedule ? `cron ${schedule.expression} (${schedule.timezone})` : eventTypes.join(', ') || 'being invoked'
}

/** Such as `12 events started no workflow: file.moved (10, runs wait for it), file.renamed (2)`. */
export function describeUnmatched(unmatched: readonly { type: string; events: number; isAwaited: boolean }[]): string {
  const total = unmatched.reduce((sum, { events }) => sum + events, 0)
  const named = unmatched
    .slice(0, MAX_NAMED)
    .map(({ type, events, isAwaited }) => `${type} (${events}${isAwaited ? ', runs wait for it' : ''})`)
  const more = unmatched.length > MAX_NAMED ? [`and ${unmatched.length - MAX_NAMED} other types`] : []
  return `${total} ${total === 1 ? 'event' : 'events'} started no workflow: ${[...named, ...more].join(', ')}`
}

const RUNS_SHOWN = 10

export function show(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the workflow').action((id) =>
    project.withOperations(async (operations) => {
      const workflow = await call(operations, 'GET /workflows/:id', { params: { id } })
      const schedule = await findSchedule(operations, workflow)
      const { items: runs } = await call(operations, 'GET /runs', { query: { workflow: id, limit: RUNS_SHOWN } })
      const { pausedAt, held } = workflow
      const paused = `paused since ${formatMoment(pausedAt)}, ${held} runs held`
      out.result({ ...workflow, schedule, runs }, () => [
        out.paint('bold', id),
        `  on        ${describeTrigger(workflow)}`,
        `  state     ${pausedAt === null ? 'active' : out.paint('yellow', paused)}`,
        `  module    ${workflow.file}, loaded ${formatMoment(workflow.loadedAt)}`,
        ...(schedule ? [`  last      ${formatMoment(schedule.lastTickAt) ?? '–'}`] : []),
        ...(schedule ? [`  next      ${formatMoment(schedule.nextAt) ?? '–'}`] : []),
        ...formatRows('Newest runs', runs, RUN_COLUMNS, out),
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
