import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { RunFilter } from '../../../src/core/runs/run.ts'
import { keepPlan } from '../../../src/store/sqlite/database/connection.ts'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'
import { openTables } from '../../../src/store/sqlite/tables.ts'
import { createVault } from '../../../src/store/vault.ts'
import { explain, recordStatements } from './record-statements.ts'

/** A filter for each way to the runs. */
const RUN_FILTERS: RunFilter[] = [
  {},
  { since: 0, until: 1, before: 'run_1' },
  { workflow: 'follow-up', status: 'completed', origin: 'event' },
  { eventId: 'evt_1' },
  { originRun: 'run_1' },
  { parentRun: 'run_1' },
  { waitsForPerson: true },
  { status: 'failed' },
  { status: 'failed', workflow: 'follow-up' },
  { status: 'canceled' },
  { status: 'pending' },
  { status: 'running' },
  { status: 'waiting' },
  { since: 1, until: 2, before: 'run_2' },
  { status: 'failed', since: 1, until: 2, before: 'run_2' },
  { error: 'no luck', step: 'download', failureGroup: 'grp_1' },
  { resolved: true, workflow: 'follow-up' },
  { resolved: false },
  { tags: [['customer', 'acme']] },
  {
    tags: [
      ['customer', 'acme'],
      ['region', 'eu'],
    ],
    status: 'failed',
    since: 1,
    before: 'run_2',
  },
]

/** SQLite's plan for every statement that the tables prepare. */
async function collectPlans(): Promise<Map<string, string[]>> {
  const db = new Database(':memory:')
  migrate(db)
  const statements: string[] = []
  const recording = recordStatements(db, statements)
  const { runs, audits, ledger, effectSearch, events, runSearch, eventSearch } = openTables(
    db,
    createVault(Buffer.alloc(32)),
    recording,
  )
  for (const filter of [{ before: 'aud_1' }, { since: 1 }, { target: 'run_1' }])
    await audits.listActions({ limit: 1, ...filter })
  await ledger.listDeliveries({ limit: 1 })
  await ledger.listDeliveries({ limit: 1, since: 1, endpointId: 'end_1', verdicts: ['accepted'] })
  await ledger.listDeliveries({ limit: 1, verdicts: ['conflict'] })
  await ledger.listDeliveries({ limit: 1, verdicts: ['stale'] })
  for (const filter of [
    {},
    { target: 'a' },
    { path: '/a' },
    { workflow: 'a' },
    { runId: 'a' },
    { since: 1, until: 2 },
  ]) {
    await effectSearch.listEffects({ limit: 1, ...filter })
    await effectSearch.listEffects({ after: 1, limit: 1, ...filter })
    await effectSearch.pageEffects({ beyond: null, limit: 1, ...filter })
    await effectSearch.searchEffects({ account: 'a', ...filter }, { rows: 2, limit: 1, after: '1_1' })
  }
  statements.push(...listTriggerStatements(db))
  await runs.countOpenRuns(0)
  await runs.tallyForPerson()
  await events.findIn('default', 'evt_none')
  await events.listEvents({ limit: 1 })
  await events.listEvents({ limit: 1, type: 'file.created', since: 0 })
  for (const filter of RUN_FILTERS) {
    await runSearch.listRuns({ limit: 1, ...filter })
    await runSearch.searchRuns(filter, { rows: 2, limit: 1, after: 'run_1' })
    await runSearch.groupFailures(filter, { rows: 2, limit: 1, after: 'run_1' })
  }
  // An empty table is not searched at all.
  const one = `INSERT INTO event (seq, segment, identity, id, account, type, origin, created_at, received_at, body)
    VALUES (1, 0, x'00', 'evt_1', 'default', 'file.created', 'webhook', 0, 0, '{}')`
  db.exec(one)
  await eventSearch.searchEvents({}, { rows: 2, limit: 1, after: null })
  return new Map(
    statements
      .filter((sql) => !sql.startsWith('PRAGMA') && !sql.includes('RAISE('))
      .map((sql) => [sql, explain(db, sql)]),
  )
}

/** The statements of the triggers, with a value in place of each column of NEW and OLD. */
function listTriggerStatements(db: Database.Database): string[] {
  const triggers = db.prepare<[], string>(`SELECT sql FROM sqlite_master WHERE type = 'trigger'`).pluck().all()
  return triggers.flatMap((sql) => {
    const body = sql.slice(sql.indexOf('BEGIN') + 'BEGIN'.length, sql.lastIndexOf('END'))
    const statements = body.split(';').map((statement) => statement.trim().replace(/\b(NEW|OLD)\.\w+/g, `'x'`))
    return statements.filter((statement) => statement !== '' && !statement.startsWith('SELECT RAISE('))
  })
}

const plans = await collectPlans()

/** The plans of the statements that contain `part`; at least one does. */
function planOf(part: string): string[] {
  const found = [...plans].filter(([sql]) => sql.replace(/\s+/g, ' ').includes(part))
  expect(found, `statements with ${part}`).not.toEqual([])
  return found.flatMap(([, plan]) => plan)
}

test('a statement is planned once, whatever its parameters are', () => {
  const db = new Database(':memory:')
  db.exec(`CREATE TABLE item (id TEXT, state TEXT); CREATE INDEX item_open ON item (id) WHERE state = 'open'`)
  // SQLite would plan again for this value: it shows in the plan and in a number of its program.
  const explain = (sql: string, values: unknown[]) => {
    const statement = db.prepare<unknown[]>(`EXPLAIN ${sql}`)
    return new Set(values.map((value) => JSON.stringify(statement.all(value)))).size
  }
  const byState = ['SELECT id FROM item WHERE state = ?', ['open', 'done']] as const
  const limited = ['SELECT id FROM item ORDER BY id LIMIT ?', [3n, 7n]] as const
  for (const [sql, values] of [byState, limited]) {
    expect(explain(sql, [...values])).toBe(2)
    expect(explain(keepPlan(sql), [...values])).toBe(1)
  }
  expect(keepPlan('SELECT 1 WHERE a = ? AND b <= @b LIMIT ? OFFSET ?')).toBe(
    'SELECT 1 WHERE a = +? AND b <= +@b LIMIT +? OFFSET +?',
  )
})

test('no statement reads a large table from end to end', () => {
  const scans = [...plans].filter(([, plan]) =>
    plan.some((line) =>
      /^SCAN (run|work|outcome|step|tick|event|delivery|gate_slot|throttle_start|gathering|run_tag|run_progress)$/.test(
        line,
      ),
    ),
  )
  // A list reads the primary key backwards and stops at its limit. The rest of the last slice is
  // shorter than that, and the oldest run is the first row.
  const isBounded = /ORDER BY (run\.id|id|seq) DESC LIMIT (\?|1 OFFSET \?)$|^SELECT min\(run\.id\)|ORDER BY id LIMIT 1$/
  for (const [sql] of scans) expect(sql).toMatch(isBounded)
})

test('the oldest refusals, and the captures of an endpoint, are found by their indexes', () => {
  expect(planOf('event_id IS NULL ORDER BY id')).toEqual(['SEARCH delivery USING INDEX delivery_refused (verdict=?)'])
  for (const line of planOf('FROM capture WHERE endpoint_id')) expect(line).toContain('INDEX capture_endpoint')
})

test('a claim reads runs in index order, without sorting', () => {
  expect(planOf(`status = 'pending' AND suspicion < 2 ORDER BY turn`)).toEqual(['SCAN work USING INDEX work_ready'])
  expect(planOf('due_at <= ? ORDER BY due_at')).toEqual([
    'SEARCH work USING COVERING INDEX work_waiting (due_at>? AND due_at<?)',
  ])
})

test('no statement of a run sorts anything but its own steps', () => {
  const sorted = [...plans].filter(([, plan]) => plan.some((line) => line.includes('TEMP B-TREE'))).map(([sql]) => sql)
  // Few endpoints, event types, stops and votes. The operations that have just ended, and the
  // events of one subject in one block. A count by verdict, and lists of unfinished runs.
  const isUnfinished = (sql: string) => sql.includes('(SELECT run_id AS id FROM work WHERE status =')
  const small = /FROM (endpoint|unmatched_tally|effect_stop|bulk)|json_each|approval/
  const counts = /GROUP BY (verdict|endpoint_id|workflow|stream)/
  const isSmall = (sql: string) => small.test(sql) || counts.test(sql)
  expect(sorted.filter((sql) => !isSmall(sql) && !isUnfinished(sql)).toSorted()).toEqual([
    expect.stringMatching(/FROM step JOIN hook ON hook.id = step.target/),
    // The sleep that a person skips.
    expect.stringMatching(/^SELECT key FROM step WHERE run_id = \? AND status = 'waiting'/),
    expect.stringMatching(/FROM step WHERE run_id = \? ORDER BY position$/),
    expect.stringMatching(/FROM step WHERE run_id = \? AND kind = .send. ORDER BY position LIMIT \?$/),
  ])
})

test('a few unfinished runs are found among many by the index of their status', () => {
  const plan = planOf('FROM (SELECT id FROM (SELECT run_id AS id FROM work WHERE status =')
  expect(plan).toEqual(expect.arrayContaining([expect.stringContaining('USING INDEX work_ready')]))
  expect(plan).not.toContain('SCAN work')
  for (const line of planOf('work.reason NOT IN').filter((each) => /\bwork\b/.test(each)))
    expect(line).toMatch(/INDEX work_(for_person|ready|suspect|leased|waiting|untimed)|work USING PRIMARY KEY/)
  expect(planOf('FROM (SELECT 1 FROM work WHERE work.status').join('\n')).toContain('INDEX work_for_person')
})

test('a known event is looked up segment by segment, and identities are read from the index alone', () => {
  const byIdentity = 'SEARCH event USING COVERING INDEX event_identity (segment=? AND identity=?)'
  expect(planOf('ON segment = number AND identity = +?')).toContain(byIdentity)
  const bySegment = 'SEARCH event USING COVERING INDEX event_identity (segment>? AND segment<?)'
  expect(planOf('WHERE segment >= ? AND segment <= ?')).toEqual([bySegment])
})

test('the runs of an event and of a dead worker are found by their indexes', () => {
  expect(planOf('json_each').join('\n')).toContain('USING INDEX run_caused')
  const reads = planOf('FROM work WHERE worker = ?').filter((line) => /SEARCH|SCAN/.test(line))
  for (const line of reads) expect(line).toMatch(/USING ((COVERING )?INDEX work_leased|PRIMARY KEY \(run_id=\?\))/)
})

test('the runs that a person operates on are found by their indexes', () => {
  expect(planOf('origin_run = ?').join('\n')).toContain('USING INDEX run_origin')
  expect(planOf('run.id >= ? AND run.id < ?').join('\n')).toContain('USING PRIMARY KEY (id>? AND id<?)')
  const held = planOf("reason = 'the workflow is paused' ORDER BY run_id")
  expect(held.join('\n')).toContain('USING COVERING INDEX work_paused')
  expect(planOf('tick_account = ? AND tick_at IS NOT NULL ORDER BY tick_at').join('\n')).toContain(
    'USING INDEX work_ticking',
  )
  expect(planOf('SELECT max(id) FROM run WHERE event_seq').join('\n')).toContain('USING INDEX run_caused')
})

test('the runs of a tag are read from the newest on, in the order of an index that has all of it', () => {
  const bounded = planOf('FROM (SELECT run_id AS id, name, value FROM run_tag) AS run WHERE run.name = ? AND')
  const reads = bounded.filter((line) => line.includes('run_tag'))
  for (const line of reads) expect(line).toMatch(/SEARCH run_tag USING (COVERING INDEX run_tag_value|PRIMARY KEY)/)
  expect(planOf('FROM run_tag WHERE name = ? AND value = ? LIMIT').join('\n')).toContain('INDEX run_tag_value')
  expect(planOf('run_tag.name = ?) = ?').join('\n')).toContain('SEARCH run_tag USING PRIMARY KEY (run_id=? AND name=?)')
})

test('the schedules that are due are found by their index, whatever the number of the others', () => {
  for (const part of [
    'next_at <= ? AND (next_at, id)',
    'next_at > ? ORDER BY next_at',
    'next_at IS NOT NULL ORDER BY next_at',
  ]) {
    expect(planOf(part).join('\n')).toMatch(/schedule USING (COVERING )?INDEX schedule_due/)
  }
  expect(planOf('done_at < ? ORDER BY done_at').join('\n')).toContain('INDEX schedule_done')
  expect(planOf('sum(missed)').join('\n')).toContain('INDEX schedule_missed')
})

test('pruning reads from the oldest row on, and no other rows', () => {
  for (const part of ['AS is_old FROM run', 'AS is_of_kind FROM delivery']) {
    // Besides, each folded run with the ones above it.
    const plan = planOf(part).filter((line) => /^SEARCH|^SCAN (?!up$)/.test(line) && !/KEY \((run_)?id=\?\)/.test(line))
    expect(plan).not.toEqual([])
    for (const line of plan) expect(line).toContain('USING PRIMARY KEY (id>? AND id<?)')
  }
  expect(planOf('AS needed_by').join('\n')).toContain('SEARCH event USING INTEGER PRIMARY KEY (rowid>?)')
  expect(planOf('AS needed_by').join('\n')).toContain('INDEX run_caused')
  const searched = planOf('DELETE FROM outcome').filter((line) => /^(SEARCH|SCAN)/.test(line))
  for (const line of searched)
    expect(line).toMatch(/KEY \((run_)?id=\?\)|INDEX run_events_of \(|(SCAN|SEARCH) (up|json_each|CONSTANT)/)
  expect(planOf('DELETE FROM step_failure').join('\n')).toContain('USING COVERING INDEX step_failure_run')
})

test('a count before a prune reads along an index from the oldest row on', () => {
  const readOf = (part: string) => planOf(part).filter((line) => /^(SEARCH|SCAN) (?!\()/.test(line))[0]
  expect(readOf('FROM outcome AS old')).toBe('SEARCH old USING PRIMARY KEY (run_id<?)')
  expect(readOf('AS goes FROM outcome INDEXED BY')).toBe(
    'SEARCH outcome USING INDEX outcome_ended_badly (status=? AND run_id<?)',
  )
  expect(readOf('AS goes FROM delivery INDEXED BY')).toContain('INDEX delivery_refused (verdict=? AND id<?)')
  expect(readOf('AS goes FROM delivery WHERE id <')).toBe('SEARCH delivery USING PRIMARY KEY (id<?)')
  expect(readOf('AS goes FROM audit')).toBe('SEARCH audit USING PRIMARY KEY (id<?)')
  expect(readOf('AS goes FROM effect')).toBe('SEARCH effect USING INTEGER PRIMARY KEY (rowid<?)')
  expect(readOf('FROM (SELECT 1 FROM known_file')).toContain('USING COVERING INDEX known_file_gone (gone_at<?)')
  for (const line of planOf('FROM (SELECT * FROM file_event')) expect(line).not.toContain('TEMP B-TREE')
})

test('the deliveries of an event are found without reading others', () => {
  expect(
    planOf('FROM delivery WHERE event_seq').filter((line) => line.startsWith('SEARCH') || line.startsWith('SCAN')),
  ).toEqual([
    'SEARCH delivery USING PRIMARY KEY (id>? AND id<?)',
    'SEARCH delivery USING INDEX delivery_repeat (event_seq=?)',
    'SEARCH delivery USING INDEX delivery_repeat (event_seq=?)',
  ])
  expect(planOf('WHERE id >= ? AND endpoint_id')).toContainEqual('SEARCH delivery USING PRIMARY KEY (id>?)')
})

test('events to match are read by their numbers', () => {
  const byNumber = 'SEARCH event USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'
  const plan = planOf('FROM full_event AS event WHERE stream = ? AND seq > ? AND seq <= ?')
  expect(plan.filter((line) => line.includes('event'))).toEqual([byNumber, byNumber])
})

test('an arrival claim reads only the first rows of the queue indexes', () => {
  const plan = planOf('SELECT NOT EXISTS (SELECT 1 FROM work')
  expect(plan.filter((line) => /\b(work|workflow_pause)\b/.test(line))).toEqual([
    'SCAN work USING INDEX work_ready',
    'SEARCH work USING COVERING INDEX work_waiting (due_at>? AND due_at<?)',
    'SEARCH workflow_pause USING PRIMARY KEY (workflow=?)',
  ])
})

test('waits are resolved by their indexes, however many there are', () => {
  const searches = (part: string) => planOf(part).filter((line) => /\b(wait|event_key|run|work)\b/.test(line))
  expect(searches('SELECT workflow FROM work WHERE work.run_id = wait.run_id')).toEqual([
    'SEARCH wait USING INDEX wait_open (type=? AND name=? AND stream=? AND account=? AND value=? AND since_seq<?)',
    'SEARCH work USING PRIMARY KEY (run_id=?)',
  ])
  expect(searches('SET is_resolved = 1 WHERE child_run = ?')).toEqual([
    'SEARCH wait USING INDEX wait_child (child_run=?)',
  ])
  expect(searches('SELECT 1 WHERE EXISTS (SELECT 1 FROM wait')).toEqual([
    'SEARCH wait USING PRIMARY KEY (run_id=?)',
    'SEARCH wait USING COVERING INDEX wait_child (child_run=?)',
  ])
  expect(searches('WHERE parent_run = @runId')).toEqual([
    'SEARCH run USING INDEX run_invoked (parent_run=? AND id>?)',
    'SEARCH work USING PRIMARY KEY (run_id=?)',
    'SEARCH wait USING COVERING INDEX wait_child (child_run=? AND run_id=?)',
  ])
  expect(searches('FROM match_cursor').join()).toContain(
    'wait USING COVERING INDEX wait_open (type=? AND name=? AND stream=?)',
  )
  expect(searches('DELETE FROM event_key').join()).toContain('event_key USING COVERING INDEX event_key_age')
  expect(searches('DELETE FROM wait').every((line) => line.includes('PRIMARY KEY (run_id=?'))).toBe(true)
  const scans = [...plans].filter(([, plan]) => plan.some((line) => /^SCAN (wait|event_key|large_output)/.test(line)))
  expect(scans.map(([sql]) => sql)).toEqual([])
})

test('a list of runs reads along the index of its filter, in order', () => {
  const pathOf = (part: string) => new Set(planOf(part).filter((line) => /\b(run|work|outcome)\b/.test(line)))
  expect([...pathOf('ON event.seq = run.event_seq WHERE run.id >= ? AND run.id < ?')][0]).toBe(
    'SEARCH run USING PRIMARY KEY (id>? AND id<?)',
  )
  // First the ids of the slice, by the index of the filter; then their runs.
  const byIds = (source: string) => pathOf(`ON event.seq = run.event_seq WHERE run.id IN (SELECT run.id FROM ${source}`)
  for (const source of ['(SELECT run_id AS id, status, workflow FROM outcome)', '(SELECT run_id AS id FROM work']) {
    expect([...byIds(source)][0]).toBe('SEARCH run USING PRIMARY KEY (id=?)')
  }
  const endedBadly = [
    ...byIds("(SELECT run_id AS id, status, workflow FROM outcome) AS run WHERE run.status IN ('failed'"),
  ]
  expect(endedBadly).toContain(
    'SEARCH outcome USING COVERING INDEX outcome_ended_badly (status=? AND run_id>? AND run_id<?)',
  )
  expect([...byIds('(SELECT run_id AS id, status, workflow FROM outcome)')]).toContain(
    'SEARCH outcome USING COVERING INDEX outcome_failed (workflow=?)',
  )
  expect([...pathOf('WHERE run.origin_run = ?')].join()).toContain('INDEX run_origin (origin_run=?')
  expect([...pathOf('WHERE run.parent_run = ?')].join()).toContain('INDEX run_invoked (parent_run=?')
  for (const line of pathOf('BETWEEN ? AND ? ORDER BY seq')) expect(line).toContain('USING INTEGER PRIMARY KEY')
})

test('ids are bounded once from each side: SQLite reads all rows between two bounds of a kind', () => {
  const twice = (bound: RegExp) => [...plans.keys()].filter((sql) => [...sql.matchAll(bound)].length > 1)
  const isList = (sql: string) => /ORDER BY (run\.)?id DESC|count\(\*\)/.test(sql)
  expect([...twice(/\b(run\.)?id >= \?/g), ...twice(/\b(run\.)?id < \?/g)].filter(isList)).toEqual([])
})

test('the end of a slice is found in the index alone', () => {
  const slices = planOf('ORDER BY run.id DESC LIMIT 1 OFFSET ?')
  for (const index of ['outcome_ended_badly', 'outcome_failed', 'run_origin', 'run_invoked']) {
    const lines = slices.filter((line) => line.includes(index))
    expect(lines).not.toEqual([])
    for (const line of lines) expect(line).toContain(`COVERING INDEX ${index}`)
  }
})

test('conflicts, and the refusals of one verdict, are listed by their indexes', () => {
  expect(planOf(`WHERE verdict = 'conflict' ORDER BY id`)).toEqual(['SCAN delivery USING INDEX delivery_conflict'])
  expect(planOf('AND verdict = ? ORDER BY id')).toEqual(['SEARCH delivery USING INDEX delivery_refused (verdict=?)'])
})

test('the deletes of a target are found by their own index', () => {
  const [first, ...rest] = planOf("step.effect = 'delete' AND substr(step.target")
  expect(first).toBe('SEARCH step USING INDEX step_delete (<expr>=?)')
  expect(rest.filter((line) => line.startsWith('SEARCH')).every((line) => line.includes('PRIMARY KEY'))).toBe(true)
})

test('the runs at a gate, and the next in line, are found by an index', () => {
  expect(planOf('is_held = 0 ORDER BY rank, run_id LIMIT 1')).toEqual([
    'SEARCH gate_slot USING PRIMARY KEY (workflow=? AND gate=? AND key=? AND is_held=?)',
  ])
  expect(
    planOf('is_held = 1').filter(
      (line) => /\bgate_slot\b/.test(line) && !/USING (PRIMARY KEY|COVERING INDEX|INDEX gate_slot_run)/.test(line),
    ),
  ).toEqual([])
  expect(planOf('DELETE FROM gate_slot').every((line) => line.includes('USING INDEX gate_slot_run'))).toBe(true)
  expect(planOf('DELETE FROM gathering').every((line) => line.includes('USING INDEX gathering_run'))).toBe(true)
  expect(planOf('ORDER BY until LIMIT 1 OFFSET')).toEqual([
    'SEARCH throttle_start USING PRIMARY KEY (workflow=? AND key=?)',
  ])
  expect(planOf('folded_into IN').join()).toContain('USING COVERING INDEX outcome_folded (folded_into=?)')
})

test('unadmitted runs are found among the first rows of the queue index', () => {
  expect(planOf('turn <= -2000')).toEqual(['SEARCH work USING INDEX work_ready (turn<?)'])
})

test('open runs are counted from partial indexes, without reading a run', () => {
  const counts = planOf('AS oldest_pending_at').filter((line) => / (run|work|outcome) /.test(line))
  const indexes =
    /^(SCAN|SEARCH) (work|outcome) USING (COVERING )?INDEX (work_\w+|outcome_failure_kind|outcome_ended_badly)\b/
  const ofOldest = 'SEARCH run USING PRIMARY KEY (id=?)'
  expect(counts.length).toBeGreaterThan(6)
  for (const line of counts) if (line !== ofOldest) expect(line).toMatch(indexes)
})
