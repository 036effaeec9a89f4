import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { RunFilter } from '../../../src/core/runs/run.ts'
import { openConnection } from '../../../src/store/sqlite/database/connection.ts'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'
import { WriteProbe } from '../../../src/store/sqlite/database/write-probe.ts'
import { DeliveryTable } from '../../../src/store/sqlite/incoming/delivery-table.ts'
import { EventTable } from '../../../src/store/sqlite/incoming/event-table.ts'
import { OwnEvents } from '../../../src/store/sqlite/incoming/own-events.ts'
import { Admission } from '../../../src/store/sqlite/limits/admission.ts'
import { GateTable } from '../../../src/store/sqlite/limits/gate-table.ts'
import { Claims } from '../../../src/store/sqlite/runs/claims.ts'
import { OutputTable } from '../../../src/store/sqlite/runs/output-table.ts'
import { RunOperations } from '../../../src/store/sqlite/runs/run-operations.ts'
import { RunTable } from '../../../src/store/sqlite/runs/run-table.ts'
import { StepTable } from '../../../src/store/sqlite/runs/step-table.ts'
import { TickTable } from '../../../src/store/sqlite/runs/tick-table.ts'
import { WorkerTable } from '../../../src/store/sqlite/runs/worker-table.ts'
import { WorkflowTable } from '../../../src/store/sqlite/runs/workflow-table.ts'
import { EventSearcher } from '../../../src/store/sqlite/search/event-searcher.ts'
import { RunSearch } from '../../../src/store/sqlite/search/run-search.ts'
import { PruneCounts } from '../../../src/store/sqlite/upkeep/prune-counts.ts'
import { Pruning } from '../../../src/store/sqlite/upkeep/pruning.ts'
import { MatchCursorTable } from '../../../src/store/sqlite/waits/match-cursor-table.ts'
import { WaitTable } from '../../../src/store/sqlite/waits/wait-table.ts'
import { ApprovalSearch } from '../../../src/store/tables/approvals/approval-search.ts'
import { ApprovalTable } from '../../../src/store/tables/approvals/approval-table.ts'
import { ApproverTable } from '../../../src/store/tables/approvals/approver-table.ts'
import { VoteTable } from '../../../src/store/tables/approvals/vote-table.ts'
import { WithdrawalTable } from '../../../src/store/tables/approvals/withdrawal-table.ts'
import { AccountTable } from '../../../src/store/tables/incoming/account-table.ts'
import { CaptureTable } from '../../../src/store/tables/incoming/capture-table.ts'
import { DeliveryLedger } from '../../../src/store/tables/incoming/delivery-ledger.ts'
import { EndpointTable } from '../../../src/store/tables/incoming/endpoint-table.ts'
import { RefusalTable } from '../../../src/store/tables/incoming/refusal-table.ts'
import { KeyLimitTable } from '../../../src/store/tables/limits/key-limit-table.ts'
import { AuditTable } from '../../../src/store/tables/safety/audit-table.ts'
import { EffectSearch } from '../../../src/store/tables/safety/effect-search.ts'
import { EffectTable } from '../../../src/store/tables/safety/effect-table.ts'
import { GuardTable } from '../../../src/store/tables/safety/guard-table.ts'
import { ReservedTable } from '../../../src/store/tables/safety/reserved-table.ts'
import { SealTable } from '../../../src/store/tables/safety/seal-table.ts'
import { StopTable } from '../../../src/store/tables/safety/stop-table.ts'
import { ApprovalWaits } from '../../../src/store/tables/waits/approval-waits.ts'
import { createVault } from '../../../src/store/vault.ts'

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
]

/** SQLite's plan for every statement that the tables prepare. */
async function collectPlans(): Promise<Map<string, string[]>> {
  const db = new Database(':memory:')
  migrate(db)
  const statements: string[] = []
  const recorder = new Proxy(db, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name)
      return (sql: string) => {
        statements.push(sql)
        return target.prepare(sql)
      }
    },
  })
  const recording = openConnection(recorder)
  const events = new EventTable(recording)
  const workflows = new WorkflowTable(recording)
  const runs = new RunTable(recording, events)
  new Claims(recording, { events, ticks: new TickTable(recording), workflows })
  const steps = new StepTable(recording)
  new DeliveryTable(recording, events)
  new RefusalTable(recording)
  new EndpointTable(recording, createVault(Buffer.alloc(32)))
  const ownEvents = new OwnEvents(recording, events, () => workflows.routes())
  const approvals = new ApprovalTable(recording, ownEvents)
  const withdrawals = new WithdrawalTable(recording, { approvals, stops: new StopTable(recording) })
  new RunOperations(recording, { events, runs, steps, withdrawals })
  const audits = new AuditTable(recording)
  for (const filter of [{ before: 'aud_1' }, { since: 1 }, { target: 'run_1' }])
    await audits.list({ limit: 1, ...filter })
  new AccountTable(recording, createVault(Buffer.alloc(32)))
  const ledger = new DeliveryLedger(recording, events)
  await ledger.list({ limit: 1 })
  await ledger.list({ limit: 1, since: 1, endpointId: 'end_1', verdicts: ['accepted'] })
  await ledger.list({ limit: 1, verdicts: ['conflict'] })
  await ledger.list({ limit: 1, verdicts: ['stale'] })
  new CaptureTable(recording, createVault(Buffer.alloc(32)))
  new WriteProbe(recorder)
  new OutputTable(recording)
  const cursors = new MatchCursorTable(recording)
  const guard = new GuardTable(recording)
  const reserved = new ReservedTable(recording, guard)
  const approvalWaits = new ApprovalWaits(recording, (run) => runs.wake(run))
  const waits = new WaitTable(recording, {
    runs,
    events,
    cursors,
    approvals,
    approvalWaits,
    reserved,
    withdrawals,
    ownEvents,
  })
  new KeyLimitTable(recording)
  new WorkerTable(recording, null)
  new Admission(recording, new GateTable(recording), waits)
  const effects = new EffectTable(recording, guard)
  const effectSearch = new EffectSearch(recording)
  for (const filter of [
    {},
    { target: 'a' },
    { path: '/a' },
    { workflow: 'a' },
    { runId: 'a' },
    { since: 1, until: 2 },
  ]) {
    await effectSearch.list({ limit: 1, ...filter })
    await effectSearch.listAfter(1, { limit: 1, ...filter })
    await effectSearch.page({ beyond: null, limit: 1, ...filter })
    await effectSearch.search({ account: 'a', ...filter }, { rows: 2, limit: 1, after: '1_1' })
  }
  const seals = new SealTable(recording, createVault(Buffer.alloc(32)), effectSearch)
  new Pruning(recording, { events, audits, effects, seals })
  new PruneCounts(recording, seals)
  new ApprovalSearch(recording)
  new ApproverTable(recording, createVault(Buffer.alloc(32)))
  new VoteTable(recording)
  new StopTable(recording)
  statements.push(...listTriggerStatements(db))
  await runs.countOpen(0)
  await events.list({ limit: 1 })
  await events.list({ limit: 1, type: 'file.created', since: 0 })
  const search = new RunSearch(recording, events)
  for (const filter of RUN_FILTERS) {
    await search.list({ limit: 1, ...filter })
    await search.search(filter, { rows: 2, limit: 1, after: 'run_1' })
    await search.groupFailures(filter, { rows: 2, limit: 1, after: 'run_1' })
  }
  // An empty table is not searched at all.
  const one = `INSERT INTO event (seq, segment, identity, id, account, type, origin, created_at, received_at, body)
    VALUES (1, 0, x'00', 'evt_1', 'default', 'file.created', 'webhook', 0, 0, '{}')`
  db.exec(one)
  await new EventSearcher(recording).search({}, { rows: 2, limit: 1, after: null })
  return new Map(
    statements
      .filter((sql) => !sql.startsWith('PRAGMA') && !sql.includes('RAISE('))
      .map((sql) => {
        const parameters = (sql.match(/\?/g) ?? []).map(() => 0)
        const named = Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 0]))
        const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        const rows = Object.keys(named).length > 0 ? plan.all(named) : plan.all(...parameters)
        return [sql, rows.map((row) => row.detail)]
      }),
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

test('no statement reads a large table from end to end', () => {
  const scans = [...plans].filter(([, plan]) =>
    plan.some((line) => /^SCAN (run|step|tick|event|delivery|place|throttle_start|gathering)$/.test(line)),
  )
  // A list reads the primary key backwards and stops at its limit.
  for (const [sql] of scans) expect(sql).toMatch(/ORDER BY (run\.id|id|seq) DESC LIMIT \?$/)
})

test('the oldest refusals, and the captures of an endpoint, are found by their indexes', () => {
  expect(planOf('event_id IS NULL ORDER BY id')).toEqual(['SEARCH delivery USING INDEX delivery_refused (verdict=?)'])
  for (const line of planOf('FROM capture WHERE endpoint_id')) expect(line).toContain('INDEX capture_endpoint')
})

test('a claim reads runs in index order, without sorting', () => {
  expect(planOf(`status = 'pending' AND suspicion < 2 ORDER BY turn`)).toEqual(['SCAN run USING INDEX run_ready'])
  expect(planOf('due_at <= ? ORDER BY due_at')).toEqual([
    'SEARCH run USING COVERING INDEX run_waiting (due_at>? AND due_at<?)',
  ])
})

test('no statement of a run sorts anything but its own steps', () => {
  const sorted = [...plans].filter(([, plan]) => plan.some((line) => line.includes('TEMP B-TREE'))).map(([sql]) => sql)
  // Few endpoints, event types, stops and votes, and the events of one subject in one block. A
  // count by verdict, and lists of unfinished runs.
  const isUnfinished = (sql: string) => /BY run_(ready|leased|waiting) /.test(sql)
  const isSmall = (sql: string) =>
    /FROM endpoint|FROM unmatched_tally|json_each|GROUP BY verdict|approval|FROM effect_stop/.test(sql)
  expect(sorted.filter((sql) => !isSmall(sql) && !isUnfinished(sql)).toSorted()).toEqual([
    // The sleep that a person skips.
    expect.stringMatching(/^SELECT key FROM step WHERE run_id = \? AND kind = 'sleep'/),
    expect.stringMatching(/FROM step WHERE run_id = \? ORDER BY position$/),
  ])
})

test('a known event is looked up within one segment of the index', () => {
  const byIdentity = 'SEARCH event USING COVERING INDEX event_identity (segment=? AND identity=?)'
  expect(planOf('WHERE segment = ? AND identity = ?')).toEqual([byIdentity])
  const bySegment = 'SEARCH event USING COVERING INDEX event_identity (segment>? AND segment<?)'
  expect(planOf('WHERE segment >= ? AND segment < ?')).toEqual([bySegment])
  expect(planOf('identity FROM event WHERE seq > ?')).toEqual(['SEARCH event USING INTEGER PRIMARY KEY (rowid>?)'])
})

test('the runs of an event and of a dead worker are found by their indexes', () => {
  expect(planOf('json_each').join('\n')).toContain('USING INDEX run_caused')
  expect(planOf('FROM run WHERE worker = ?').every((line) => line.includes('USING INDEX run_leased'))).toBe(true)
})

test('the runs that a person operates on are found by their indexes', () => {
  expect(planOf('origin_run = ?').join('\n')).toContain('USING INDEX run_origin')
  expect(planOf('run.id >= ? AND run.id < ?').join('\n')).toContain('USING PRIMARY KEY (id>? AND id<?)')
  const held = planOf("reason = 'the workflow is paused' ORDER BY id")
  expect(held.join('\n')).toContain('USING COVERING INDEX run_paused')
  expect(planOf("status IN ('pending', 'running', 'waiting') ORDER BY tick_at").join('\n')).toContain(
    'USING INDEX run_ticking',
  )
  expect(planOf('SELECT max(id) FROM run WHERE event_seq').join('\n')).toContain('USING INDEX run_caused')
})

test('pruning reads from the oldest row on, and no other rows', () => {
  for (const part of ['AS is_old FROM run', 'AS is_of_kind FROM delivery']) {
    const plan = planOf(part)
    expect(plan.every((line) => line.includes('USING PRIMARY KEY (id>? AND id<?)'))).toBe(true)
  }
  expect(planOf('AS is_needed').join('\n')).toContain('SEARCH event USING INTEGER PRIMARY KEY (rowid>?)')
  expect(planOf('AS is_needed').join('\n')).toContain('USING INDEX run_caused')
  expect(planOf('DELETE FROM step_failure').join('\n')).toContain('USING COVERING INDEX step_failure_run')
})

test('a count before a prune reads along an index from the oldest row on', () => {
  const readOf = (part: string) => planOf(part).filter((line) => /^(SEARCH|SCAN) (?!\()/.test(line))[0]
  expect(readOf('FROM run AS old')).toBe('SEARCH old USING PRIMARY KEY (id>? AND id<?)')
  expect(readOf('AS goes FROM run INDEXED BY')).toBe('SEARCH run USING INDEX run_ended_badly (status=? AND id<?)')
  expect(readOf('AS goes FROM delivery INDEXED BY')).toContain('INDEX delivery_refused (verdict=? AND id<?)')
  expect(readOf("AS goes FROM delivery WHERE id > ''")).toBe('SEARCH delivery USING PRIMARY KEY (id>? AND id<?)')
  expect(readOf('AS goes FROM audit')).toBe('SEARCH audit USING PRIMARY KEY (id<?)')
  expect(readOf('AS goes FROM effect')).toBe('SEARCH effect USING INTEGER PRIMARY KEY (rowid<?)')
  expect(readOf('FROM (SELECT 1 FROM known_file')).toContain('USING COVERING INDEX known_file_gone (gone_at<?)')
  for (const line of planOf('FROM (SELECT * FROM file_event')) expect(line).not.toContain('TEMP B-TREE')
})

test('the deliveries of an event are found without reading others', () => {
  expect(
    planOf('UNION ALL SELECT * FROM delivery').filter((line) => line.startsWith('SEARCH') || line.startsWith('SCAN')),
  ).toEqual([
    'SEARCH delivery USING PRIMARY KEY (id>? AND id<?)',
    'SEARCH delivery USING INDEX delivery_repeat (event_seq=?)',
  ])
  expect(planOf('WHERE id >= ? AND endpoint_id')).toContainEqual('SEARCH delivery USING PRIMARY KEY (id>?)')
})

test('events to match are read by their numbers', () => {
  const byNumber = 'SEARCH event USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'
  const plan = planOf('FROM event WHERE seq > ? AND seq <= ?')
  expect(plan.filter((line) => line.includes('event'))).toEqual([byNumber, byNumber])
})

test('an arrival claim reads only the first rows of the queue indexes', () => {
  const plan = planOf('SELECT NOT EXISTS (SELECT 1 FROM run')
  expect(plan.filter((line) => /\b(run|workflow_pause)\b/.test(line))).toEqual([
    'SCAN run USING COVERING INDEX run_ready',
    'SEARCH run USING COVERING INDEX run_waiting (due_at>? AND due_at<?)',
    'SEARCH workflow_pause USING PRIMARY KEY (workflow=?)',
  ])
})

test('waits are resolved by their indexes, however many there are', () => {
  const searches = (part: string) => planOf(part).filter((line) => /\b(wait|event_key|run)\b/.test(line))
  expect(searches('FROM wait JOIN run')).toEqual([
    'SEARCH wait USING INDEX wait_open (type=? AND name=? AND account=? AND value=? AND since_seq<?)',
    'SEARCH run USING PRIMARY KEY (id=?)',
  ])
  expect(searches('SET is_resolved = 1 WHERE child_run = ?')).toEqual([
    'SEARCH wait USING INDEX wait_child (child_run=?)',
  ])
  expect(searches('SELECT EXISTS (SELECT 1 FROM wait')).toEqual([
    'SEARCH wait USING PRIMARY KEY (run_id=?)',
    'SEARCH wait USING COVERING INDEX wait_child (child_run=?)',
  ])
  expect(searches('WHERE parent_run = ?')).toEqual(['SEARCH run USING INDEX run_invoked (parent_run=?)'])
  expect(searches('FROM match_cursor').join()).toContain('wait USING COVERING INDEX wait_open (type=? AND name=?)')
  expect(searches('DELETE FROM event_key').join()).toContain('event_key USING COVERING INDEX event_key_age')
  expect(searches('DELETE FROM wait').every((line) => line.includes('PRIMARY KEY (run_id=?'))).toBe(true)
  const scans = [...plans].filter(([, plan]) => plan.some((line) => /^SCAN (wait|event_key|large_output)/.test(line)))
  expect(scans.map(([sql]) => sql)).toEqual([])
})

test('a list of runs reads along the index of its filter, in order', () => {
  const pathOf = (part: string) => new Set(planOf(part).filter((line) => /\brun\b/.test(line)))
  expect([...pathOf('NOT INDEXED LEFT JOIN event ON event.seq = run.event_seq WHERE run.id >= ?')]).toEqual([
    'SEARCH run USING PRIMARY KEY (id>? AND id<?)',
  ])
  expect([...pathOf('INDEXED BY run_ended_badly LEFT JOIN')]).toEqual([
    'SEARCH run USING INDEX run_ended_badly (status=?)',
    'SEARCH run USING INDEX run_ended_badly (status=? AND id<?)',
    'SEARCH run USING INDEX run_ended_badly (status=? AND id>? AND id<?)',
  ])
  expect([...pathOf('INDEXED BY run_failed LEFT JOIN')]).toContain('SEARCH run USING INDEX run_failed (workflow=?)')
  expect([...pathOf('INDEXED BY run_for_person LEFT JOIN')]).toContain('SCAN run USING INDEX run_for_person')
  // Sorted: the index has the order of the moments at which they go on.
  expect([...pathOf('INDEXED BY run_waiting LEFT JOIN')]).toEqual(['SCAN run USING INDEX run_waiting'])
  expect([...pathOf('INDEXED BY run_origin LEFT JOIN')][0]).toContain('INDEX run_origin (origin_run=?')
  expect([...pathOf('INDEXED BY run_invoked LEFT JOIN')][0]).toContain('INDEX run_invoked (parent_run=?')
  for (const line of pathOf('BETWEEN ? AND ? ORDER BY seq')) expect(line).toContain('USING INTEGER PRIMARY KEY')
})

test('ids are bounded once from each side: SQLite reads all rows between two bounds of a kind', () => {
  const twice = (bound: RegExp) => [...plans.keys()].filter((sql) => [...sql.matchAll(bound)].length > 1)
  const isList = (sql: string) => /ORDER BY (run\.)?id DESC|count\(\*\)/.test(sql)
  expect([...twice(/\b(run\.)?id >= \?/g), ...twice(/\b(run\.)?id < \?/g)].filter(isList)).toEqual([])
})

test('the end of a slice is found in the index alone', () => {
  for (const index of ['run_ended_badly', 'run_failed', 'run_origin', 'run_invoked']) {
    const plan = planOf(`SELECT id FROM run INDEXED BY ${index} `)
    for (const line of plan) expect(line).toContain(`COVERING INDEX ${index}`)
  }
})

test('conflicts, and the refusals of one verdict, are listed by their indexes', () => {
  expect(planOf(`WHERE verdict = 'conflict' ORDER BY id`)).toEqual(['SCAN delivery USING INDEX delivery_conflict'])
  expect(planOf('AND verdict = ? ORDER BY id')).toEqual(['SEARCH delivery USING INDEX delivery_refused (verdict=?)'])
})

test('the deletes of a target are found by their own index', () => {
  const [first, ...rest] = planOf("step.effect = 'delete' AND step.target = ?")
  expect(first).toBe('SEARCH step USING INDEX step_delete (target=?)')
  expect(rest.every((line) => line.includes('PRIMARY KEY'))).toBe(true)
})

test('the runs at a gate, and the next in line, are found by an index', () => {
  expect(planOf('is_held = 0 ORDER BY rank, run_id LIMIT 1')).toEqual([
    'SEARCH place USING PRIMARY KEY (workflow=? AND gate=? AND key=? AND is_held=?)',
  ])
  expect(
    planOf('is_held = 1').filter((line) => !/USING (PRIMARY KEY|COVERING INDEX|INDEX place_run)/.test(line)),
  ).toEqual([])
  expect(planOf('DELETE FROM place').every((line) => line.includes('USING INDEX place_run'))).toBe(true)
  expect(planOf('DELETE FROM gathering').every((line) => line.includes('USING INDEX gathering_run'))).toBe(true)
  expect(planOf('ORDER BY until LIMIT 1 OFFSET')).toEqual([
    'SEARCH throttle_start USING PRIMARY KEY (workflow=? AND key=?)',
  ])
  expect(planOf('folded_into = ').join()).toContain('USING COVERING INDEX run_folded (folded_into=?)')
})

test('unadmitted runs are found among the first rows of the queue index', () => {
  expect(planOf('turn <= -2000')).toEqual(['SEARCH run USING INDEX run_ready (turn<?)'])
})

test('open runs are counted from partial indexes, without reading a run', () => {
  for (const index of ['run_ready', 'run_leased', 'run_waiting']) {
    const plan = planOf(`SELECT 1 FROM run INDEXED BY ${index}`)
    expect(plan.filter((line) => / run /.test(line))).toEqual([
      expect.stringMatching(new RegExp(`^(SCAN|SEARCH) run USING COVERING INDEX ${index}\\b`)),
    ])
  }
  const failures = planOf('WITH RECURSIVE kind').filter((line) => / run /.test(line))
  expect(failures.length).toBeGreaterThan(2)
  for (const line of failures) expect(line).toMatch(/^SEARCH run USING COVERING INDEX run_failure_kind \(failure_group/)
  const oldest = planOf('WITH RECURSIVE level').filter((line) => / run /.test(line))
  expect(oldest.every((line) => line.includes('run_ready') || line.includes('PRIMARY KEY'))).toBe(true)
})
