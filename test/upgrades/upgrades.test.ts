import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { listReleased } from '../../packaging/release/changelog.ts'
import type { Run } from '../../src/core/runs/run.ts'
import { databaseFile } from '../../src/project/data-dir/data-files.ts'
import { foreseeMigration, verify } from '../../src/project/data-dir/maintain-database.ts'
import { MIGRATIONS, migrate } from '../../src/store/postgres/database/migrate.ts'
import { NEXT_MIGRATION } from '../support/next-migration.ts'
import { makeSchema } from '../support/postgres-store.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { configOf, goOn, liveUntilDeath, OUTPUTS, type Place } from './life.ts'
import { databaseAt, dumpSchema, inSchema, keptFiles, listKept, readKept } from './released.ts'

/** The databases of a version: the bytes of a file, and a schema as SQL. */
interface Left {
  file(): Promise<Buffer>
  sql(): Promise<string>
}

/** The database of the unreleased version is made by the present code, those of others are kept. */
const VERSIONS: [version: string, left: Left][] = [
  ['unreleased', { file: makeFile, sql: makeSql }],
  ...listKept().map((version): [string, Left] => {
    const { sqlite, postgres } = keptFiles(version)
    return [version, { file: async () => readKept(sqlite), sql: async () => readKept(postgres).toString() }]
  }),
]

async function makeFile(): Promise<Buffer> {
  const place = { dataDir: tempFolder(), database: null }
  await liveUntilDeath(place)
  return readFileSync(databaseFile(place))
}

async function makeSql(): Promise<string> {
  const { url, schema } = makeSchema()
  await inSchema(url, schema, (client) => migrate(client, schema))
  await liveUntilDeath({ dataDir: tempFolder(), database: databaseAt(url, schema) })
  return inSchema(url, schema, dumpSchema)
}

/** Each workflow of a life has come to its end, and the database is sound. */
async function expectEnds(place: Place, runs: readonly Run[]): Promise<void> {
  const ended = runs.filter(({ foldedInto }) => foldedInto === null)
  expect(ended.filter(({ status }) => status !== 'completed')).toEqual([])
  const outputs = ended.map(({ workflow, output }) => [workflow, JSON.parse(output ?? '"none"')])
  expect(Object.fromEntries(outputs)).toEqual(OUTPUTS)
  const report = await verify(configOf(place))
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([])
}

test('what a migration would do is told before it is done, and nothing is changed', async () => {
  const place = { dataDir: tempFolder(), database: null }
  writeFileSync(databaseFile(place), await makeFile())
  expect(await foreseeMigration(configOf(place), 0)).toMatchObject({ missing: [], tried: null })
  // As of a version whose only migration is not there yet.
  const old = { dataDir: tempFolder(), database: null }
  new Database(databaseFile(old)).close()
  const forecast = await foreseeMigration(configOf(old), 0)
  expect(forecast).toMatchObject({ before: 0, tried: { bytes: expect.any(Number) } })
  expect(readdirSync(old.dataDir)).toEqual(['upshot.db'])
  expect(readFileSync(databaseFile(old))).toHaveLength(0)
})

test.each(VERSIONS)('what a process of version %s left in a file is finished by this one', async (_version, left) => {
  const place = { dataDir: tempFolder(), database: null }
  writeFileSync(databaseFile(place), await left.file())
  await expectEnds(place, await goOn(place))
})

test.each(VERSIONS)(
  'what a process of version %s left in PostgreSQL is finished by this one',
  async (_version, left) => {
    const { url, schema } = makeSchema()
    const sql = await left.sql()
    await inSchema(url, 'public', (client) => client.query(`CREATE SCHEMA ${schema}`))
    await inSchema(url, schema, async (client) => {
      await client.query(sql)
      await migrate(client, schema)
    })
    const place = { dataDir: tempFolder(), database: databaseAt(url, schema) }
    // A rolling deployment: the version after this one makes its schema while runs are at work.
    const next = { migrations: [...MIGRATIONS, NEXT_MIGRATION] }
    const runs = await goOn(place, async () => {
      await inSchema(url, schema, (client) => migrate(client, schema, next))
    })
    await expectEnds(place, runs)
  },
)

test('each released version has its databases and its API, which its release kept', () => {
  const changelog = readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8')
  const advice = 'make them at its tag: npm run fixtures <version>'
  expect(listKept().sort(), advice).toEqual(listReleased(changelog).sort())
})
