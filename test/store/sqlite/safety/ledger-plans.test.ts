import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Connection } from '../../../../src/store/connection.ts'
import { migrate } from '../../../../src/store/sqlite/database/migrate.ts'
import { EffectSearch } from '../../../../src/store/tables/safety/effect-search.ts'
import { EffectTable } from '../../../../src/store/tables/safety/effect-table.ts'
import { GuardTable } from '../../../../src/store/tables/safety/guard-table.ts'
import { SealTable } from '../../../../src/store/tables/safety/seal-table.ts'
import { createVault } from '../../../../src/store/vault.ts'
import { explain, recordStatements } from '../record-statements.ts'

/** SQLite's plan for each statement that `use` prepares. */
async function plansOf(use: (db: Connection) => unknown): Promise<string[][]> {
  const db = new Database(':memory:')
  migrate(db)
  const statements: string[] = []
  await use(recordStatements(db, statements))
  return statements.map((sql) => explain(db, sql))
}

const plansOfSearch = async (use: (search: EffectSearch) => unknown) =>
  (await plansOf((db) => use(new EffectSearch(db)))).flat()

test.each([
  [{}, 'effect_at', ''],
  [{ since: 1, until: 2, outcome: 'failed' }, 'effect_at', '(at>? AND at<?)'],
  [{ target: 'storage_a:fil_1' }, 'effect_target', '(<expr>=?'],
  [{ path: '/a', account: 'shop', since: 1 }, 'effect_path', '(<expr>=? AND at>?'],
  [{ runId: 'run_1', workflow: 'tidy' }, 'effect_run', '(run_id=?'],
  [{ workflow: 'tidy', since: 1 }, 'effect_workflow', '(workflow=? AND at>?'],
])('rows by %o are read newest first along one index, and nothing is sorted', async (filter, index, terms) => {
  const lists = await plansOfSearch((search) => search.listEffects({ ...filter, limit: 1 }))
  const searches = await plansOfSearch((search) => search.searchEffects(filter, { rows: 9, limit: 1, after: '1_1' }))
  const plans = [...lists, ...searches].filter((line) => / effect /.test(line))
  expect(plans).toHaveLength(4)
  for (const plan of plans) expect(plan).toMatch(new RegExp(`^(SCAN|SEARCH) effect USING (COVERING )?INDEX ${index}`))
  for (const plan of searches.filter((line) => / effect /.test(line))) expect(plan).toContain(terms)
  expect([...lists, ...searches].filter((line) => line.includes('TEMP B-TREE'))).toEqual([])
})

test.each([
  [{}, 'effect_at'],
  [{ since: 1, outcome: 'failed' }, 'effect_at'],
  [{ workflow: 'rare', since: 1 }, 'effect_workflow'],
  [{ path: '/a' }, 'effect_path'],
  [{ runId: 'run_1' }, 'effect_run'],
])('an export by %o reads the rows of one index only, in their order, from where it was', async (filter, index) => {
  const plans = (
    await plansOf((db) => new EffectSearch(db).pageEffects({ ...filter, beyond: { at: 1, seq: 1 }, limit: 1 }))
  ).flat()
  expect(plans[0]).toMatch(new RegExp(`^SEARCH effect USING INDEX ${index} \\(.*at>`))
  expect(plans.filter((line) => line.includes('TEMP B-TREE'))).toEqual([])
})

test('a verification reads the ledger by its primary key, and sorts nothing', async () => {
  for (const filter of [{}, { workflow: 'tidy', since: 1 }]) {
    const [plan, ...rest] = await plansOfSearch((search) => search.listEffects({ after: 1, ...filter, limit: 1 }))
    expect(plan).toBe('SEARCH effect USING INTEGER PRIMARY KEY (rowid>?)')
    expect(rest.filter((line) => line.includes('TEMP B-TREE'))).toEqual([])
  }
})

test('sealing and pruning read no table from end to end, and sort nothing', async () => {
  const plans = (
    await plansOf(async (db) => {
      const effects = new EffectTable(db, { guard: new GuardTable(db) })
      const seals = new SealTable(db, { vault: createVault(Buffer.alloc(32)), effects: new EffectSearch(db) })
      await effects.prune(1, 1)
      await effects.listDeletes('default', ['storage_a:fil_1'])
      await seals.listSeals({ limit: 1 })
    })
  ).flat()
  expect(plans.filter((line) => line.includes('TEMP B-TREE'))).toEqual([])
  // The newest seal is the first row backwards; keys and counters of the guard are few. `rest` has
  // the rows of a bounded query, and `json_each` a list of keys. A lock is a constant.
  const few = /^SCAN (effect_seal|effect_key|guard_use|rest$|json_each|CONSTANT|\()/
  expect(plans.filter((line) => line.startsWith('SCAN') && !few.test(line))).toEqual([])
  expect(plans).toContain('SEARCH effect USING INDEX effect_target (<expr>=?)')
})
