import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { SWEEP_SQL, selectFindings } from '../../../src/store/rows/health/sweep-rows.ts'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'

const db = new Database(':memory:')
migrate(db)

/** SQLite's plan for a statement, without the sorting of few rows. */
function planOf(sql: string): string[] {
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => name)
  const values =
    names.length > 0 ? [Object.fromEntries(names.map((name) => [name, 0]))] : sql.match(/\?/g)?.map(() => 0)
  const rows = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...(values ?? []))
  return rows.map(({ detail }) => detail).filter((line) => /^(SCAN|SEARCH|USE TEMP)/.test(line))
}

test('no statement of a sweep reads all files, all that events told, or all findings', () => {
  const scans = Object.entries(SWEEP_SQL).flatMap(([name, sql]) =>
    planOf(sql).flatMap((line) => (line.startsWith('SCAN') ? [`${name}: ${line}`] : [])),
  )
  // Few storages are swept, and the book is one row.
  const ofMany = scans.filter((line) => !/SCAN (sweep|file_book)\b/.test(line))
  // The counts before a prune end at their limit.
  expect(ofMany).toEqual(['countGone: SCAN gone', 'toldOf: SCAN file_event', 'toldOf: SCAN told'])
})

test('a slice of files is read by the key, in the order of ids', () => {
  const bySlice = 'SEARCH known_file USING PRIMARY KEY (sweep=? AND file>? AND file<?)'
  expect(planOf(SWEEP_SQL.suspects)).toEqual([bySlice])
  const byFile = 'SEARCH told USING PRIMARY KEY (account=? AND storage=? AND file=? AND type=?)'
  expect(planOf(SWEEP_SQL.count)).toEqual([bySlice, byFile, byFile])
  expect(planOf(SWEEP_SQL.boundary)).toEqual(['SEARCH known_file USING PRIMARY KEY (sweep=? AND file>?)'])
  expect(planOf(SWEEP_SQL.known)).toEqual(['SEARCH known_file USING PRIMARY KEY (sweep=? AND file=?)'])
})

test('a file that is gone is found by its own index, and what events told by the key', () => {
  expect(planOf(SWEEP_SQL.forget).at(-1)).toBe('SEARCH known_file USING COVERING INDEX known_file_gone (gone_at<?)')
  expect(planOf(SWEEP_SQL.toldAfter)).toEqual([
    expect.stringMatching(/^SEARCH file_event USING PRIMARY KEY \(.*account/),
  ])
  const byKey = 'SEARCH known_file USING PRIMARY KEY (sweep=? AND file=?)'
  expect(planOf(SWEEP_SQL.toldOf).filter((line) => !line.startsWith('SCAN'))).toEqual([
    expect.stringMatching(/^SEARCH sweep/),
    ...[byKey, byKey],
  ])
  expect(planOf(SWEEP_SQL.deleted)[0]).toMatch(/USING (COVERING )?INDEX effect_target/)
})

test('findings are read by state, by storage, or from the newest on', () => {
  const few = planOf(selectFindings({ states: ['due'], limit: 1 }).sql)
  expect(few[0]).toContain('USING INDEX file_finding_state')
  const newest = planOf(selectFindings({ since: 1, limit: 1 }).sql)
  expect(newest[0]).toContain('USING INDEX file_finding_found')
  const ofStorage = planOf(selectFindings({ account: 'a', storage: 'storage_a', limit: 1 }).sql)
  expect(ofStorage[0]).toContain('USING PRIMARY KEY (account=? AND storage=?)')
})
