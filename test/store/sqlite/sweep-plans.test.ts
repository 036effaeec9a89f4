import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { FindingQuery } from '../../../src/core/store/sweeps.ts'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'
import { FindingTable } from '../../../src/store/tables/health/finding-table.ts'
import { SweepTable } from '../../../src/store/tables/health/sweep-table.ts'
import { FilePruning } from '../../../src/store/tables/upkeep/file-pruning.ts'
import { explain, recordStatements } from './record-statements.ts'

const db = new Database(':memory:')
migrate(db)
const statements: string[] = []
const connection = recordStatements(db, statements)
const findings = new FindingTable(connection, {} as never)
new SweepTable(connection, { findings })
new FilePruning(connection)

/** The only statement that begins so. */
function statementOf(beginning: RegExp): string {
  const found = statements.filter((sql) => beginning.test(sql))
  expect(found, String(beginning)).toHaveLength(1)
  return found[0] ?? ''
}

/** SQLite's plan for a statement, without the sorting of few rows. */
function planOf(sql: string): string[] {
  return explain(db, sql).filter((line) => /^(SCAN|SEARCH|USE TEMP)/.test(line))
}

async function planOfList(query: FindingQuery): Promise<string[]> {
  await findings.listFindings(query)
  return planOf(statements.at(-1) ?? '')
}

test('no statement of a sweep reads all files, all that events told, or all findings', () => {
  const scans = statements.flatMap((sql) => planOf(sql).filter((line) => line.startsWith('SCAN')))
  // Few storages are swept, the book is one row, and a list is as long as what was asked for.
  const ofMany = scans.filter((line) => !/SCAN (sweep|file_book|json_each)\b/.test(line))
  // The counts before a prune end at their limit.
  expect(ofMany).toEqual(['SCAN old', 'SCAN gone', 'SCAN file_event', 'SCAN told'])
})

test('a slice of files is read by the key, in the order of ids', () => {
  const bySlice = 'SEARCH known_file USING PRIMARY KEY (sweep=? AND file>? AND file<?)'
  expect(planOf(statementOf(/^SELECT file, path/))).toEqual([bySlice])
  const byFile = 'SEARCH told USING PRIMARY KEY (account=? AND storage=? AND file=? AND type=?)'
  expect(planOf(statementOf(/^SELECT count\(\*\) AS entries/))).toEqual([bySlice, byFile, byFile])
  expect(planOf(statementOf(/^SELECT file FROM known_file/))).toEqual([
    'SEARCH known_file USING PRIMARY KEY (sweep=? AND file>?)',
  ])
  expect(planOf(statementOf(/^SELECT first_sweep, last_sweep/))).toEqual([
    'SEARCH known_file USING PRIMARY KEY (sweep=? AND file=?)',
  ])
})

test('a file that is gone is found by its own index, and what events told by the key', () => {
  expect(planOf(statementOf(/^DELETE FROM known_file/)).at(-1)).toBe(
    'SEARCH known_file USING COVERING INDEX known_file_gone (gone_at<?)',
  )
  expect(planOf(statementOf(/^SELECT account, storage, file, type, event, at/))).toEqual([
    expect.stringMatching(/^SEARCH file_event USING PRIMARY KEY \(.*account/),
  ])
  const byKey = 'SEARCH known_file USING PRIMARY KEY (sweep=? AND file=?)'
  expect(planOf(statementOf(/^SELECT told\.account/)).filter((line) => !line.startsWith('SCAN'))).toEqual([
    expect.stringMatching(/^SEARCH sweep/),
    byKey,
    byKey,
  ])
  expect(planOf(statementOf(/^SELECT 1 AS found FROM effect/))[0]).toMatch(/USING (COVERING )?INDEX effect_target/)
})

test('findings are read by state, by storage, or from the newest on', async () => {
  const few = await planOfList({ states: ['due'], limit: 1 })
  expect(few[0]).toContain('USING INDEX file_finding_state')
  const newest = await planOfList({ since: 1, limit: 1 })
  expect(newest[0]).toContain('USING INDEX file_finding_found')
  const ofStorage = await planOfList({ account: 'a', storage: 'storage_a', limit: 1 })
  expect(ofStorage[0]).toContain('USING PRIMARY KEY (account=? AND storage=?)')
})
