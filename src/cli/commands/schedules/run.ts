import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import type { Cli } from '../../command.ts'
import { call, type Operations } from '../../open/operations.ts'
import { refrain } from '../../operate/act-command.ts'

/**
 * `upshot schedules run <workflow>`: a tick now, for each account of the schedule. Its run waits
 * for an unfinished one, unless the schedule has `overlap: 'allow'`.
 */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<workflow>', 'id of a workflow with a cron schedule')
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
