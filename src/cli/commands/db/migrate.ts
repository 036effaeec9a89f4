import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import {
  describeRoles,
  foreseeMigration,
  type MigrationForecast,
  migrateDatabase,
} from '../../../project/data-dir/maintain-database.ts'
import { moveDatabase } from '../../../project/data-dir/move-database.ts'
import { readVersion } from '../../../project/read-version.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../command-clock.ts'
import { requireDatabase } from '../../open/open-project.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { showProgress } from '../../terminal/progress.ts'

export function migrate(command: Command, { out, project }: Cli): void {
  const roles = command.option('--role-sql', 'print the rights of a user that owns nothing, as SQL')
  roles.addHelpText('after', HELP).action(async ({ roleSql }) => {
    const config = await project.loadBeside()
    if (roleSql === true && config.database) {
      const sql = await describeRoles(config.database.schema)
      out.result({ sql }, () => [sql.trimEnd()])
      return
    }
    if (!config.database) await requireDatabase(config)
    if (out.given.dryRun) {
      const forecast = await foreseeMigration(config, commandClock.now(), onInterrupt())
      out.result({ migrated: null, version: readVersion(), ...forecast }, () => describeForecast(forecast))
      return
    }
    const migrated = await migrateDatabase(config)
    const { before, after } = migrated
    out.result({ migrated }, () => [
      before === after ? `The schema is up to date: ${after}.` : `Migrated the schema from ${before} to ${after}.`,
    ])
  })
}

function describeForecast(forecast: MigrationForecast): string[] {
  const { before, after, missing, misled, tried, tables, unfinished } = forecast
  return [
    missing.length === 0
      ? `The schema is up to date: ${after}. Nothing would be migrated.`
      : `The schema would go from ${before} to ${after}: ${missing.join(', ')}`,
    ...(misled.length === 0
      ? []
      : [`The schema was renamed. Functions would be set to work on its new name: ${misled.join(', ')}`]),
    ...(tried === null ? [] : [`A copy of ${formatBytes(tried.bytes)} took ${Math.ceil(tried.ms)} ms. It is deleted.`]),
    ...tables.map(
      ({ name, rows, bytes }) => `  ${name}: about ${rows.toLocaleString('en')} rows, ${formatBytes(bytes)}`,
    ),
    ...describeProcesses(forecast),
    ...(unfinished === 0
      ? ['No run is unfinished.']
      : [
          `${unfinished.toLocaleString('en')} ${unfinished === 1 ? 'run is' : 'runs are'} unfinished, and would go on.`,
          'To check whether they fit the code of your workflows: upshot backtest --unfinished',
        ]),
  ]
}

function describeProcesses({ processes }: Pick<MigrationForecast, 'processes'>): string[] {
  const here = readVersion()
  const counts = Map.groupBy(processes, ({ version }) => version)
  return [...counts].map(([version, { length }]) => {
    const many = `${length} ${length === 1 ? 'process' : 'processes'} of version ${version}`
    return version === here ? `${many}: as this command` : `${many} at work, and this is ${here}: replace them`
  })
}

const HELP = `
In PostgreSQL, run it before the processes of a new version start, with a user who may create
tables. Processes of the version before go on meanwhile. A file is migrated by whatever opens it
first.

With --dry-run nothing is changed: it names the migrations, and migrates a copy of a file to take
the time, which needs as much disk again. In PostgreSQL it gives the sizes of the tables that
change.

With --role-sql nothing is changed: its output makes the roles <schema>_app, for the processes,
<schema>_erase, for "upshot privacy erase", and <schema>_read, for reports. Run it as the owner
after each migration: … --role-sql | psql`

export function move(command: Command, { out, project }: Cli): void {
  command.addHelpText('after', MOVE_HELP).action(async () => {
    const config = await project.loadBeside()
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
    out.result({ moved: rows }, () => [describeMoved(rows), 'The database file is marked, and opens no more.'])
    out.note('Start the app with UPSHOT_DATABASE_URL, and keep the file until the first backup.')
  })
}

function describeMoved({ event, run, step }: Record<string, number>): string {
  if (event === undefined) return 'Every row had been moved before; the move is done now.'
  return `Moved and compared every row, with ${event} events, ${run} runs and ${step} steps.`
}

const MOVE_HELP = `
Set UPSHOT_DATABASE_URL and UPSHOT_SECRET_KEY, and stop every process of the app first. The service
repeats its deliveries meanwhile. A move that was interrupted is finished by running it again.`
