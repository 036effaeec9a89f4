import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseFile } from '../../src/project/data-dir/data-files.ts'
import { migrate } from '../../src/store/postgres/database/migrate.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { databaseAt, dumpSchema, inSchema, keep } from './databases.ts'
import { liveUntilDeath } from './life.ts'

/** Keeps the databases that this version makes. A release runs it, and they never change again. */
const [, , version] = process.argv
if (version === undefined) throw new Error('Usage: npm run fixtures:database <version>')

const folder = mkdtempSync(join(tmpdir(), 'upshot-databases-'))
const server = await startPostgres()
try {
  const place = { dataDir: folder, database: null }
  await liveUntilDeath(place)
  await inSchema(server.url, 'upshot', (client) => migrate(client, 'upshot'))
  await liveUntilDeath({ ...place, database: databaseAt(server.url, 'upshot') })
  keep(version, { file: databaseFile(place), sql: await inSchema(server.url, 'upshot', dumpSchema) })
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}
