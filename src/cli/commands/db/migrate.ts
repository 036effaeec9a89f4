import type { Command } from '@commander-js/extra-typings'
import { migrateDatabase } from '../../../project/data-dir/maintain-database.ts'
import type { Cli } from '../../command.ts'

/** `upshot db migrate`: the schema of this version in the database of `UPSHOT_DATABASE_URL`. */
export function define(command: Command, { out, project }: Cli): void {
  command.addHelpText('after', HELP).action(async () => {
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
the version before go on meanwhile. A file of SQLite needs no such command.`
