import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AdminClient } from '../../src/admin/client/index.ts'

/** The token that an app writes into its data directory. */
export function readAdminToken(dataDir: string): string {
  return readFileSync(join(dataDir, 'admin.token'), 'utf8').trim()
}

/** A client with that token. */
export function openAdmin(dataDir: string, url: string): AdminClient {
  return new AdminClient({ url, token: readAdminToken(dataDir) })
}
