import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { EffectFilter } from '../../../../src/core/store/safety/effects.ts'
import { migrate } from '../../../../src/store/sqlite/database/migrate.ts'
import { EffectTable } from '../../../../src/store/sqlite/safety/effect-table.ts'
import { GuardTable } from '../../../../src/store/sqlite/safety/guard-table.ts'
import { SealTable } from '../../../../src/store/sqlite/safety/seal-table.ts'
import { createVault } from '../../../../src/store/vault.ts'

/** SQLite's plan for each statement that `use` prepares. */
function plansOf(use: (db: Database.Database) => void): string[][] {
  const db = new Database(':memory:')
  migrate(db)
  const statements: string[] = []
  const recording = new Proxy(db, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name)
      return (sql: string) => {
        statements.push(sql)
        return target.prepare(sql)
      }
    },
  })
  use(recording)
  return statements.map((sql) => {
    const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    const named = Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 0]))
    const values = Object.keys(named).length > 0 ? [named] : (sql.match(/\?/g) ?? []).map(() => 0)
    return plan.all(...values).map(({ detail }) => detail)
  })
}

const listPlan = (filter: EffectFilter) =>
  plansOf((db) => new EffectTable(db, new GuardTable(db)).list({ ...filter, limit: 1 })).at(-1)?.[0]

test('the history of a file is found by an index, in the order of its rows', () => {
  expect(listPlan({ target: 'storage_a:fil_1' })).toBe('SEARCH effect USING INDEX effect_target (target=?)')
  expect(listPlan({ path: '/a' })).toBe('SEARCH effect USING INDEX effect_path (path=?)')
  expect(listPlan({ path: '/a', account: 'shop', since: 1 })).toContain('INDEX effect_path (path=?)')
})

test('an export and a verification read the ledger by its primary key, and sort nothing', () => {
  expect(listPlan({ after: 1 })).toBe('SEARCH effect USING INTEGER PRIMARY KEY (rowid>?)')
  expect(listPlan({ after: 1, workflow: 'tidy', since: 1 })).toBe('SEARCH effect USING INTEGER PRIMARY KEY (rowid>?)')
})

test('sealing and pruning read no table from end to end, and sort nothing', () => {
  const plans = plansOf((db) => {
    const effects = new EffectTable(db, new GuardTable(db))
    const seals = new SealTable(db, createVault(Buffer.alloc(32)), effects)
    effects.prune(1, 1)
    effects.listDeletes('default', ['storage_a:fil_1'])
    seals.list(0, 1)
  }).flat()
  expect(plans.filter((line) => line.includes('TEMP B-TREE'))).toEqual([])
  // The newest seal is the first row backwards; keys and counters of the guard are few.
  expect(plans.filter((line) => /^SCAN (?!effect_seal|effect_key|guard_use|\()/.test(line))).toEqual([])
  expect(plans).toContain('SEARCH effect USING INDEX effect_target (target=?)')
})
