import type { Command } from '@commander-js/extra-typings'
import { WORKFLOW_ROUTES } from '../../admin/contract/resources/workflows.ts'
import type { AnswerOf } from '../../admin/contract/routes.ts'
import type { Cli } from '../command.ts'
import { call, type Operations } from '../open/operations.ts'
import { actCommand, refrain } from '../operate/act-command.ts'
import { listCommand } from '../operate/list-command.ts'
import { formatMoment } from '../terminal/format-value.ts'

const WORKFLOW = ['workflow', 'id of a workflow with a cron schedule'] as const

/** `upshot schedules list`: schedules with last and next times, and counts of missed ticks. */
export const list = listCommand(WORKFLOW_ROUTES, 'GET /schedules', {
  columns: (now) => [
    { title: 'WORKFLOW', value: ({ workflow }) => workflow },
    { title: 'CRON', value: ({ expression }) => expression },
    { title: 'ZONE', value: ({ timezone }) => timezone },
    { title: 'ACCOUNTS', value: ({ accounts }) => (accounts === 'each' ? accounts : accounts.join(', ')), most: 40 },
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
  ],
  empty: 'No workflow has a schedule. Write "on: cron(…)" in one.',
})

/** `upshot schedules pause <workflow>`: stops its ticks; those missed are counted, but not run. */
export const pause = actCommand('POST /schedules/:workflow/pause', {
  argument: WORKFLOW,
  look: 'GET /schedules/:workflow',
  will: (workflow) => `pause the schedule of ${workflow}`,
  done: (_, workflow, { found }) =>
    `The schedule of ${workflow} ${found?.pausedAt === null ? 'is now' : 'was already'} paused.`,
})

/** `upshot schedules resume <workflow>`: starts its ticks again, from now on. */
export const resume = actCommand('POST /schedules/:workflow/resume', {
  argument: WORKFLOW,
  look: 'GET /schedules/:workflow',
  will: (workflow) => `resume the schedule of ${workflow}`,
  done: (_, workflow, { found }) =>
    `The schedule of ${workflow} ${found?.pausedAt !== null ? 'is now' : 'was already'} active.`,
})

/**
 * `upshot schedules run <workflow>`: a tick now, for each account of the schedule. Its run waits
 * for an unfinished one, unless the schedule has `overlap: 'allow'`.
 */
export function run(command: Command, { out, project }: Cli): void {
  command
    .argument('<workflow>', WORKFLOW[1])
    .option('--account <name>', 'only for this account')
    .action((workflow, { account }) =>
      project.withOperations(async (operations) => {
        const params = { workflow }
        const schedule = await call(operations, 'GET /schedules/:workflow', { params })
        if (out.given.dryRun) return refrain(out, `run the scheduled workflow ${workflow} now`)
        const runs: AnswerOf<'POST /schedules/:workflow/run'>[] = []
        for (const each of account === undefined ? await listAccounts(operations, schedule) : [account]) {
          const body = { account: each }
          runs.push(await call(operations, 'POST /schedules/:workflow/run', { params, body }))
        }
        out.result(runs, () => runs.map(({ id }) => id))
        const [first] = runs
        if (first) out.note(`Show the run: upshot runs show ${first.id}`)
      }),
    )
}

async function listAccounts(
  operations: Operations,
  { accounts }: AnswerOf<'GET /schedules/:workflow'>,
): Promise<readonly string[]> {
  if (accounts !== 'each') return accounts
  return (await call(operations, 'GET /accounts')).items.map(({ name }) => name)
}
