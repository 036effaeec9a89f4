import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { listTickAccounts } from '../../../core/service/list-tick-accounts.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { confirm } from '../../terminal/confirm.ts'
import { findAccount } from '../accounts/find-account.ts'
import { requireSchedule } from '../workflows/workflow-view.ts'

/**
 * `upshot schedules run <workflow>`: a tick now, for each account of the schedule. Its run waits
 * for an unfinished one, unless the schedule has `overlap: 'allow'`.
 */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<workflow>', 'id of a workflow with a cron schedule')
    .option('--account <name>', 'only for this account')
    .action((workflow, { account }) =>
      project.withStore(async (store) => {
        const { trigger } = await requireSchedule(store, workflow)
        if (out.given.dryRun) {
          await confirm(out, { will: `run the scheduled workflow ${workflow} now` })
          return out.result({ workflow, dryRun: true }, () => [`The workflow ${workflow} would be run.`])
        }
        const now = commandClock.now()
        const overlap = trigger.overlap === 'allow' ? 'allow' : 'queue'
        const accounts = account === undefined ? await listTickAccounts(trigger, () => store.listAccounts()) : [account]
        if (account !== undefined && account !== DEFAULT_ACCOUNT) await findAccount(store, account)
        const runs: string[] = []
        for (const each of accounts) {
          const options = { overlap, account: each, isManual: true } as const
          const run = await store.recordTick(workflow, { scheduledFor: now, missed: 0 }, now, options)
          if (run !== null) runs.push(run)
        }
        const [run] = runs
        if (run === undefined) {
          throw new UpshotError('conflict', `The workflow ${workflow} already has a tick at this millisecond.`, {
            details: { fix: 'Run the same command again.' },
          })
        }
        out.result({ workflow, run, runs, scheduledFor: new Date(now).toISOString() }, () => runs)
        out.note(`Show the run: upshot runs show ${run}`)
      }),
    )
}
