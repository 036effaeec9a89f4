import type { Command } from '@commander-js/extra-typings'
import { describeRoles, migrateDatabase } from '../../../project/data-dir/maintain-database.ts'
import type { Cli } from '../../command.ts'

/** `upshot db migrate`: the schema of this version in the database of `UPSHOT_DATABASE_URL`. */
export function define(command: Command, { out, project }: Cli): void {
  const roles = command.option('--role-sql', 'print the rights of a user that owns nothing, as SQL')
  roles.addHelpText('after', HELP).action(async ({ roleSql }) => {
    const { database } = await project.load()
    if (roleSql === true && database) {
      const sql = await describeRoles(database.schema)
      out.result({ sql }, () => [sql.trimEnd()])
      return
    }
    const migration = await migrateDatabase(await project.load())
    if (migration === null) {
      out.result({ migrated: null }, () => ['The database is a file, which every start brings up to date.'])
      return
    }
    const { before, after } = migration
    out.result({ migrated: { before, after } }, () => [
      before === after ? `The schema is up to date: ${after}.` : `Migrated the schema from ${before} to ${after}.`,
    ])
  })
}

const HELP = `
Run it before the processes of a new version start, with a user who may create tables. Processes of
the version before go on meanwhile. A file of SQLite needs no such command.

With --role-sql nothing is changed: its output makes the roles <schema>_app, for the processes, and
<schema>_read, for reports. Run it as the owner after each migration: … --role-sql | psql`
