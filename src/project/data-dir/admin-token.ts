import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newTokenSecret } from '../../core/access/token.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Config } from '../config/load-config.ts'

/**
 * The token for scripts of this user, with the role admin. The first caller writes the file, which
 * only its owner can read. To replace the token, delete the file and restart the app.
 */
export function loadAdminToken({ dataDir }: Pick<Config, 'dataDir'>): string {
  const file = adminTokenFile({ dataDir })
  if (!existsSync(file)) makeToken(file)
  const token = readFileSync(file, 'utf8').trim()
  if (token.length >= 32) return token
  throw new UpshotError('invalid_config', `${file} does not hold a token. Delete it, and start again.`)
}

/** Path of the file, which need not exist. */
function adminTokenFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'admin.token')
}

/** A link replaces no file, so of several processes that start at once one wins. */
function makeToken(file: string): void {
  const own = `${file}.${process.pid}`
  writeFileSync(own, `${newTokenSecret()}\n`, { mode: 0o600 })
  try {
    linkSync(own, file)
  } catch {
    // Not every file system has links. Of processes that start at once, the last one wins there.
    if (!existsSync(file)) renameSync(own, file)
  } finally {
    rmSync(own, { force: true })
  }
}
