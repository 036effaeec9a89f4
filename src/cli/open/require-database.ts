import { existsSync } from 'node:fs'
import { UpshotError } from '../../core/errors.ts'
import type { Config } from '../../project/config/load-config.ts'
import { databaseFile } from '../../project/data-dir/data-files.ts'

/** The project's database, for a command that must not make one; throws `not_found`. */
export function requireDatabase(config: Pick<Config, 'dataDir'>): string {
  const file = databaseFile(config)
  if (existsSync(file)) return file
  throw new UpshotError('not_found', `There is no database in ${config.dataDir}.`)
}
