import type { Command } from '@commander-js/extra-typings'
import {
  describeRoles,
  foreseeMigration,
  type MigrationForecast,
  migrateDatabase,
} from '../../../project/data-dir/maintain-database.ts'
import { readVersion } from '../../../project/read-version.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { requireDatabase } from '../../open/open-project.ts'
import { formatBytes } from '../../terminal/format-value.ts'

/** `upshot db migrate`: brings the schema up to date; under `--dry-run` it says what that takes. */
export function define(command: Command, { out, project }: Cli): void {
  const roles = command.option('--role-sql', 'print the rights of a user that owns nothing, as SQL')
  roles.addHelpText('after', HELP).action(async ({ roleSql }) => {
    const config = await project.load()
    if (roleSql === true && config.database) {
      const sql = await describeRoles(config.database.schema)
      out.result({ sql }, () => [sql.trimEnd()])
      return
    }
    if (!config.database) await requireDatabase(config)
    if (out.given.dryRun) {
      const forecast = await foreseeMigration(config, commandClock.now())
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
  const { before, after, missing, tried, tables, unfinished } = forecast
  return [
    missing.length === 0
      ? `The schema is up to date: ${after}. Nothing would be migrated.`
      : `The schema would go from ${before} to ${after}: ${missing.join(', ')}`,
    ...(tried === null ? [] : [`A copy of ${formatBytes(tried.bytes)} took ${Math.ceil(tried.ms)} ms. It is deleted.`]),
    ...tables.map(
      ({ name, rows, bytes }) => `  ${name}: about ${rows.toLocaleString('en')} rows, ${formatBytes(bytes)}`,
    ),
    ...describeProcesses(forecast),
    ...(unfinished === 0
      ? ['No run is unfinished.']
      : [
          `${unfinished.toLocaleString('en')} ${unfinished === 1 ? 'run is' : 'runs are'} unfinished, and would go on.`,
          'Whether they fit the code of your workflows: upshot backtest --unfinished',
        ]),
  ]
}

/** The processes at work, by their version. */
function describeProcesses({ processes }: Pick<MigrationForecast, 'processes'>): string[] {
  const here = readVersion()
  const counts = Map.groupBy(processes, ({ version }) => version)
  return [...counts].map(([version, { length }]) => {
    const many = `${length} ${length === 1 ? 'process' : 'processes'} of version ${version}`
    return version === here ? `${many}: as this command` : `${many} at work, and this is ${here}: replace them`
  })
}

const HELP = `
In PostgreSQL, run it before the processes of a new version start, with a user who may create tables.
Processes of the version before go on meanwhile. A file is migrated by whatever opens it first.

With --dry-run nothing is changed: it names the migrations, and migrates a copy of a file to take the
time, which needs as much disk again. In PostgreSQL it gives the sizes of the tables that change.

With --role-sql nothing is changed: its output makes the roles <schema>_app, for the processes, and
<schema>_read, for reports. Run it as the owner after each migration: … --role-sql | psql`
