import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { moveDatabase } from '../../../project/data-dir/move-database.ts'
import type { Cli } from '../../command.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { confirm } from '../../terminal/confirm.ts'
import { showProgress } from '../../terminal/progress.ts'

/** `upshot db move`: the rows of the database file go to the database of `UPSHOT_DATABASE_URL`. */
export function define(command: Command, { out, project }: Cli): void {
  command.addHelpText('after', HELP).action(async () => {
    const config = await project.load()
    const app = await findRunningApp(config)
    if (app !== null) {
      throw new UpshotError('conflict', `An app is running on ${config.dataDir} (process ${app.pid}).`, {
        fix: 'Stop every process of the app, run this again, then start the app.',
      })
    }
    if (!(await confirm(out, { will: `move the database in ${config.dataDir} to PostgreSQL` }))) {
      out.result({ moved: null }, () => ['Nothing was changed.'])
      return
    }
    using progress = showProgress(out, { title: 'Moving', unit: 'count' })
    const { rows } = await moveDatabase(config, ({ done, total }) => progress.set(done, total))
    out.result({ moved: rows }, () => [describe(rows), 'The database file is marked, and opens no more.'])
    out.note('Start the app with UPSHOT_DATABASE_URL, and keep the file until the first backup.')
  })
}

function describe({ event, run, step }: Record<string, number>): string {
  if (event === undefined) return 'Every row had been moved before; the move is done now.'
  return `Moved and compared every row, with ${event} events, ${run} runs and ${step} steps.`
}

const HELP = `
Set UPSHOT_DATABASE_URL and UPSHOT_SECRET_KEY, and stop every process of the app first. The service
repeats its deliveries meanwhile. A move that was interrupted is finished by running it again.`
