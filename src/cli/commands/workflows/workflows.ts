import type { Command } from '@commander-js/extra-typings'
import { WORKFLOW_ROUTES } from '../../../admin/contract/resources/workflows.ts'
import { describeBroken } from '../../../core/runs/workflow-record.ts'
import type { Cli } from '../../command.ts'
import { parseJsonOption } from '../../input/parse-option.ts'
import { readText } from '../../input/read-source.ts'
import { call } from '../../open/operations.ts'
import { actCommand, refrain } from '../../operate/act-command.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import { describeTrigger, describeUnmatched } from './workflow-view.ts'

const ID = ['id', 'id of the workflow'] as const

/** `upshot workflows list`: the workflows as the app last loaded them. */
export const list = listCommand(WORKFLOW_ROUTES, 'GET /workflows', {
  columns: (now) => [
    { title: 'WORKFLOW', value: ({ id }) => id },
    { title: 'ON', value: describeTrigger, most: 60 },
    {
      title: 'STATE',
      value: ({ pausedAt }) => (pausedAt === null ? 'active' : `paused since ${formatMoment(pausedAt, now)}`),
      style: ({ pausedAt }) => (pausedAt === null ? null : 'yellow'),
    },
    { title: 'HELD', value: ({ held }) => held, align: 'right' },
    { title: 'MODULE', value: ({ file }) => file, most: 60 },
    { title: 'LOADED', value: ({ loadedAt }) => formatMoment(loadedAt, now) },
  ],
  empty: 'No workflow is known yet. The app registers workflows when it starts.',
  after: ({ broken, unmatched }) => [
    ...broken.map(describeBroken),
    ...(unmatched.length === 0 ? [] : [`${describeUnmatched(unmatched)}.`]),
  ],
})

/** `upshot workflows start <id>`: a run of a callable workflow, with an input. */
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

/** `upshot workflows pause <id>`: holds its runs until it is resumed. */
export const pause = actCommand('POST /workflows/:id/pause', {
  argument: ID,
  help: 'A run in progress continues until it ends or waits. Events and ticks are still recorded.',
  look: 'GET /workflows/:id',
  will: (id) => `pause the workflow ${id}`,
  done: ({ id, held }, _, { found }) =>
    `The workflow ${id} ${found?.pausedAt === null ? 'is now' : 'was already'} paused; ${held} of its runs are held.`,
  note: ({ id }) => `Resume it with "upshot workflows resume ${id}".`,
})

/** `upshot workflows resume <id>`: releases its held runs, oldest first. */
export const resume = actCommand('POST /workflows/:id/resume', {
  argument: ID,
  look: 'GET /workflows/:id',
  will: (id, found) => `resume the workflow ${id} and its ${found?.held ?? 0} held runs`,
  done({ id }, _, { found }) {
    const { pausedAt, held } = found ?? { pausedAt: null, held: 0 }
    return `The workflow ${id} ${pausedAt === null ? 'was not paused' : 'is resumed'}; ${held} held runs were released.`
  },
})

/** `upshot workflows remove <id>`: its events start no run any more; its runs are kept. */
export const remove = actCommand('DELETE /workflows/:id', {
  argument: ['id', 'id of a workflow whose module is gone'],
  look: 'GET /workflows/:id',
  will: (id) => `remove the workflow ${id}`,
  asks: () => ['its events start no run from now on', 'its runs are kept; unfinished ones wait for its module'],
  data: (_, id) => ({ workflow: id, removed: true }),
  done: (_, id) => `Removed the workflow ${id}.`,
})
