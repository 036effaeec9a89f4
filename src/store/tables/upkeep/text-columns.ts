import { findNeeder } from '../../rows/run-sql.ts'

/** A table with text that may name people or their files. */
export interface TextTable {
  table: string
  /** Columns of its primary key, or of an index. */
  key: readonly string[]
  /** Text or JSON, in which words are replaced. */
  texts?: readonly string[]
  /** The same for text that rows are told apart by. */
  names?: readonly string[]
  /** JSON text, compressed. */
  packed?: string
  /** SQL for the unfinished run or the schedule that needs the row; null: nothing does. */
  neededBy?: string
  /** The column of its key with the approval that the row is a part of. */
  approval?: 'id' | 'approval'
}

const unfinished = (run: string) => `(SELECT work.run_id FROM work WHERE work.run_id = given.${run})`

/** Index of the latter: primary key; it has unfinished runs only. */
const eventNeededBy = `coalesce(${findNeeder('given.seq')},
  (SELECT wait.run_id FROM wait WHERE wait.event_seq = given.seq LIMIT 1))`

/** The bodies of events, which the databases keep in different tables. */
const BODIES: Record<'event' | 'event_body', TextTable> = {
  event: { table: 'event', key: ['seq'], texts: ['body'], neededBy: eventNeededBy },
  event_body: { table: 'event_body', key: ['received_at', 'seq'], texts: ['body'], neededBy: eventNeededBy },
}

/**
 * Every column of both databases with text that a person may ask to erase. A test has the columns
 * of text that stay, and fails for one that is in neither list.
 */
export const textTables = (bodies: keyof typeof BODIES): readonly TextTable[] => [
  BODIES[bodies],
  { table: 'delivery', key: ['id'], texts: ['facts'] },
  { table: 'schedule', key: ['id'], texts: ['input'], neededBy: 'CASE WHEN given.done_at IS NULL THEN given.name END' },
  { table: 'run', key: ['id'], texts: ['input', 'failure'], names: ['parent_step'], neededBy: unfinished('id') },
  { table: 'work', key: ['run_id'], texts: ['reason', 'error', 'gates'], neededBy: 'given.run_id' },
  { table: 'outcome', key: ['run_id'], texts: ['reason', 'output', 'error', 'gates', 'resolution'] },
  {
    table: 'step',
    key: ['run_id', 'key'],
    texts: ['output', 'error', 'target', 'seen'],
    names: ['key'],
    neededBy: unfinished('run_id'),
  },
  {
    table: 'step_failure',
    key: ['run_id', 'number'],
    texts: ['error'],
    names: ['key'],
    neededBy: unfinished('run_id'),
  },
  {
    table: 'large_output',
    key: ['run_id', 'key'],
    names: ['key'],
    packed: 'packed',
    neededBy: unfinished('run_id'),
  },
  { table: 'run_log', key: ['run_id', 'number'], texts: ['message', 'facts'] },
  { table: 'run_tag', key: ['run_id', 'name'], texts: ['value'] },
  { table: 'run_progress', key: ['run_id'], texts: ['note'] },
  { table: 'wait', key: ['run_id', 'key'], texts: ['value'], names: ['key'], neededBy: 'given.run_id' },
  { table: 'event_key', key: ['cursor_id', 'account', 'value', 'seq'], names: ['value'] },
  { table: 'hook', key: ['id'], texts: ['ask', 'data'], names: ['step'], neededBy: unfinished('run_id') },
  {
    table: 'gate_slot',
    key: ['workflow', 'gate', 'key', 'is_held', 'rank', 'run_id'],
    names: ['key'],
    neededBy: 'given.run_id',
  },
  { table: 'throttle_start', key: ['workflow', 'key', 'until', 'run_id'], names: ['key'] },
  { table: 'gathering', key: ['workflow', 'key'], names: ['key'], neededBy: 'given.run_id' },
  { table: 'audit', key: ['id'], texts: ['target', 'reason', 'parameters', 'error'] },
  { table: 'failure_state', key: ['failure_group'], texts: ['note'] },
  {
    table: 'bulk',
    key: ['id'],
    texts: ['plan', 'count'],
    neededBy: `CASE WHEN given.status IN ('counting', 'running') THEN given.id END`,
  },
  { table: 'bulk_refusal', key: ['number'], texts: ['why'] },
  { table: 'kept_answer', key: ['caller', 'key'], texts: ['answer'] },
  { table: 'alert_book', key: ['rule'], texts: ['book'] },
  { table: 'known_file', key: ['sweep', 'file'], texts: ['path'] },
  { table: 'file_finding', key: ['account', 'storage', 'file', 'type'], texts: ['path', 'entry', 'reason'] },
  {
    // The scope of a run's deletes in a folder has its path.
    table: 'guard_use',
    key: ['scope', 'class', 'width', 'bucket'],
    names: ['scope'],
    neededBy: `(SELECT work.run_id FROM work WHERE given.width = 0 AND work.run_id = substr(given.scope, 5, 27))`,
  },
  {
    table: 'guard_reserved',
    key: ['run_id', 'fence', 'list', 'class', 'storage', 'folder'],
    names: ['folder'],
    neededBy: unfinished('run_id'),
  },
  { table: 'effect_stop', key: ['kind', 'name'], texts: ['reason'] },
  { table: 'approval', key: ['id'], texts: ['why', 'question', 'answer'], names: ['asked_by'], approval: 'id' },
  {
    table: 'approval_item',
    key: ['approval', 'number'],
    texts: ['target', 'asked'],
    names: ['step'],
    neededBy: unfinished('run_id'),
    approval: 'approval',
  },
  { table: 'approval_vote', key: ['approval', 'actor'], texts: ['reason', 'answer'], approval: 'approval' },
  LEDGER,
]

/** The effect ledger, whose rows change in no other way. */
export const LEDGER: TextTable = {
  table: 'effect',
  key: ['seq'],
  texts: ['operation', 'target', 'path', 'asked', 'expect', 'before', 'error'],
  names: ['step'],
  neededBy: unfinished('run_id'),
}
