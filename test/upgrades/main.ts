import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeOpenapi } from '../../src/admin/contract/openapi.ts'
import { ROUTES } from '../../src/admin/contract/routes.ts'
import { databaseFile } from '../../src/project/data-dir/data-files.ts'
import { migrate } from '../../src/store/postgres/database/migrate.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { liveUntilDeath } from './life.ts'
import { databaseAt, dumpSchema, inSchema, keep } from './released.ts'

/** Keeps databases and API of this version. A release runs it, and they never change again. */
const [, , version] = process.argv
if (version === undefined) throw new Error('Usage: npm run fixtures <version>')

const folder = mkdtempSync(join(tmpdir(), 'upshot-databases-'))
const server = await startPostgres()
try {
  const place = { dataDir: folder, database: null }
  await liveUntilDeath(place)
  await inSchema(server.url, 'upshot', (client) => migrate(client, 'upshot'))
  await liveUntilDeath({ ...place, database: databaseAt(server.url, 'upshot') })
  const sql = await inSchema(server.url, 'upshot', dumpSchema)
  keep(version, { file: databaseFile(place), sql, api: describeOpenapi(ROUTES, { version, url: '/api/v1' }) })
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}
