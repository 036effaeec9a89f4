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
}

const unfinished = (run: string) => `(SELECT work.run_id FROM work WHERE work.run_id = given.${run})`

/** Index: run_caused, and the primary key of work; wait has unfinished runs only. */
const eventNeededBy = `coalesce(
  (SELECT work.run_id FROM run JOIN work ON work.run_id = run.id WHERE run.event_seq = given.seq LIMIT 1),
  (SELECT work.run_id FROM run JOIN outcome ON outcome.run_id = run.id JOIN work ON work.run_id = outcome.folded_into
   WHERE run.event_seq = given.seq LIMIT 1),
  (SELECT wait.run_id FROM wait WHERE wait.event_seq = given.seq LIMIT 1))`

/** The bodies of events, which the databases keep in different tables. */
const BODIES: Record<'event' | 'event_body', TextTable> = {
  event: { table: 'event', key: ['seq'], texts: ['body'], neededBy: eventNeededBy },
  event_body: { table: 'event_body', key: ['received_at', 'seq'], texts: ['body'], neededBy: eventNeededBy },
}

/**
 * Every column of both databases with text that a person may ask to erase. A column that is neither
 * here nor in {@link PLAIN_COLUMNS} fails a test.
 */
export const textTables = (bodies: keyof typeof BODIES): readonly TextTable[] => [
  BODIES[bodies],
  { table: 'delivery', key: ['id'], texts: ['facts'] },
  { table: 'schedule', key: ['id'], texts: ['input'], neededBy: 'CASE WHEN given.done_at IS NULL THEN given.name END' },
  { table: 'run', key: ['id'], texts: ['input', 'failure'], names: ['parent_step'], neededBy: unfinished('id') },
  { table: 'work', key: ['run_id'], texts: ['reason', 'error', 'gates'], neededBy: 'given.run_id' },
  { table: 'outcome', key: ['run_id'], texts: ['reason', 'output', 'error', 'gates', 'resolution'] },
  {
    ...{ table: 'step', key: ['run_id', 'key'], texts: ['output', 'error', 'target'], names: ['key'] },
    neededBy: unfinished('run_id'),
  },
  {
    ...{ table: 'step_failure', key: ['run_id', 'number'], texts: ['error'], names: ['key'] },
    neededBy: unfinished('run_id'),
  },
  {
    ...{ table: 'large_output', key: ['run_id', 'key'], names: ['key'], packed: 'packed' },
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
    ...{ table: 'bulk', key: ['id'], texts: ['plan', 'count'] },
    neededBy: `CASE WHEN given.status IN ('counting', 'running') THEN given.id END`,
  },
  { table: 'bulk_refusal', key: ['number'], texts: ['why'] },
  { table: 'kept_answer', key: ['caller', 'key'], texts: ['answer'] },
  { table: 'alert_book', key: ['rule'], texts: ['book'] },
  { table: 'known_file', key: ['sweep', 'file'], texts: ['path'] },
  { table: 'file_finding', key: ['account', 'storage', 'file', 'type'], texts: ['path', 'entry', 'reason'] },
  {
    ...{ table: 'guard_reserved', key: ['run_id', 'fence', 'list', 'class', 'storage', 'folder'], names: ['folder'] },
    neededBy: unfinished('run_id'),
  },
  { table: 'effect_stop', key: ['kind', 'name'], texts: ['reason'] },
  { table: 'approval', key: ['id'], texts: ['why', 'question', 'answer'], names: ['asked_by'] },
  {
    ...{ table: 'approval_item', key: ['approval', 'number'], texts: ['target', 'asked'], names: ['step'] },
    neededBy: unfinished('run_id'),
  },
  { table: 'approval_vote', key: ['approval', 'actor'], texts: ['reason', 'answer'] },
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

/**
 * Columns of text and bytes that stay, by table: ids, hashes, sealed secrets, and words of our own.
 * Names of rows, of authors and of people who operate stay, too.
 */
export const PLAIN_COLUMNS: Record<string, string> = {
  endpoint: 'id name path account events scheme status',
  endpoint_secret: 'endpoint_id sealed',
  account: 'name base_url api_key fallback_key plan storages',
  event_account: 'name',
  delivery: 'id endpoint_id verdict event_id',
  refusal_tally: 'verdict',
  unmatched_tally: 'type',
  capture: 'id endpoint_id sealed',
  event: 'identity id account type origin body_hash',
  event_block: 'filter',
  workflow: 'id file input',
  route: 'workflow event_type',
  worker_workflow: 'worker workflow',
  workflow_pause: 'workflow',
  schedule: 'id name owner made_by workflow plan',
  tick: 'schedule account run_id',
  run: 'id workflow schedule account parent_run origin origin_run handler received',
  work: 'run_id workflow status worker code_hash gate_state tick_schedule tick_account',
  outcome: 'run_id workflow status code_hash failure_group gate_state folded_into continued_by',
  step: 'run_id kind effect status',
  step_failure: 'run_id',
  run_log: 'run_id level',
  run_tag: 'run_id name',
  run_progress: 'run_id',
  large_output: 'run_id',
  worker: 'id lock_file',
  wait: 'run_id account type name child_run approval hook',
  asking_again: 'what after_approval after_run',
  match_cursor: 'type name version',
  event_key: 'account',
  hook: 'id run_id account scheme sealed',
  hook_answer: 'hook sameness',
  hook_key: 'sealed',
  gate_rule: 'workflow gate',
  gate_slot: 'workflow gate run_id',
  throttle_start: 'workflow run_id',
  gathering: 'workflow run_id',
  key_limit: 'key state',
  audit: 'id actor role origin action outcome',
  failure_state: 'failure_group kind set_by',
  bulk: 'id status cursor owner',
  bulk_refusal: 'bulk_id target',
  kept_answer: 'caller key request',
  process: 'id role version admin_url receiver_url broken',
  run_hour: 'workflow status',
  delivery_hour: 'endpoint_id verdict',
  alert_book: 'rule',
  shape_book: 'book',
  sweep: 'account storage state',
  known_file: 'file',
  file_event: 'account storage file type event',
  file_book: 'book',
  file_finding: 'account storage file type state approval event late_event',
  admin_session: 'id name role cookie_hash key_hash address',
  login_code: 'hash name role',
  admin_token: 'id name role hash',
  effect: 'phase class account workflow run_id code approval actor outcome proof erased',
  effect_seal: 'kind digest note mac',
  effect_key: 'sealed',
  guard_use: 'scope class',
  guard_reserved: 'run_id class storage workflow account',
  effect_stop: 'kind name actor',
  approval: 'id kind status workflow account hash role carrying',
  approval_item: 'approval run_id hash state',
  withdrawal: 'run_id after_step after_key',
  closing: 'run_id reason after_run',
  approval_vote: 'approval actor verdict hash items signature',
  approver: 'name sealed',
  pruned_run: 'run_id',
  move: 'id',
  prune_mark: 'kind',
}
