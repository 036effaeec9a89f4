import { existsSync } from 'node:fs'
import { UpshotError } from '../../core/errors.ts'
import { systemClock } from '../../core/time.ts'
import { isMoved, type MoveOptions, type MoveReport, moveToPostgres } from '../../store/move/move-to-postgres.ts'
import { opensDatabase } from '../../store/sqlite/upkeep/reseal-database.ts'
import { readVaultKey } from '../../store/vault.ts'
import type { Config } from '../config/load-config.ts'
import { databaseFile, vaultKeyFile } from './data-files.ts'
import { storeOptions } from './open-store.ts'

/** Moves the database file of a project into the PostgreSQL database of its configuration. */
export async function moveDatabase(
  config: Pick<Config, 'dataDir' | 'secretKey' | 'database'>,
  onProgress: MoveOptions['onProgress'],
): Promise<MoveReport> {
  const file = databaseFile(config)
  const target = storeOptions(config)
  if ('file' in target) {
    throw new UpshotError('invalid_request', 'UPSHOT_DATABASE_URL names no database to move to.', {
      details: { fix: 'Set it to postgres://user:password@host:5432/database, and run this again.' },
    })
  }
  if (!existsSync(file)) throw new UpshotError('not_found', `There is no database file ${file} to move.`)
  requireSameKey(config, target.vaultKey)
  return moveToPostgres(file, target, { now: systemClock.now(), onProgress })
}

/** The secrets move as they are sealed. */
function requireSameKey(config: Pick<Config, 'dataDir'>, key: Buffer): void {
  const file = databaseFile(config)
  const kept = vaultKeyFile(config)
  if (existsSync(kept) ? readVaultKey(kept).equals(key) : isMoved(file) || opensDatabase(file, key)) return
  throw new UpshotError('invalid_config', 'UPSHOT_SECRET_KEY is not the key that seals the secrets of the file.', {
    details: { fix: existsSync(kept) ? `Set it to the text in ${kept}.` : 'Set it to the key that the app had.' },
  })
}
