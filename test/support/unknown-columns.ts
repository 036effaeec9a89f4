import { textTables } from '../../src/store/tables/upkeep/text-columns.ts'

/** Columns of a schema in neither list, those of a list that are not there, and those in both. */
export function listUnknownColumns(
  bodies: 'event' | 'event_body',
  columns: readonly { table: string; column: string }[],
) {
  const texts = textTables(bodies).flatMap(({ table, texts = [], names = [], packed }) =>
    [...texts, ...names, ...(packed === undefined ? [] : [packed])].map((column) => `${table}.${column}`),
  )
  const plain = Object.entries(PLAIN_COLUMNS).flatMap(([table, names]) =>
    names.split(' ').map((column) => `${table}.${column}`),
  )
  const known = new Set([...texts, ...plain])
  const there = new Set(columns.map(({ table, column }) => `${table}.${column}`))
  return {
    unknown: [...there].filter((column) => !known.has(column)),
    gone: [...known].filter((column) => !there.has(column)),
    twice: texts.filter((column) => plain.includes(column)),
  }
}

/**
 * Columns of text and bytes that stay, by table: ids, hashes, sealed secrets, and words of our own.
 * Names of rows, of authors and of people who operate stay, too.
 */
const PLAIN_COLUMNS: Record<string, string> = {
  endpoint: 'id name path account events scheme status',
  endpoint_secret: 'endpoint_id sealed',
  account: 'name base_url api_key fallback_key plan storages',
  event_account: 'name',
  delivery: 'id endpoint_id verdict event_id',
  refusal_tally: 'verdict',
  unmatched_tally: 'type',
  capture: 'id endpoint_id sealed',
  event: 'identity id account type origin body_hash',
  event_filter: 'filters',
  workflow: 'id file input',
  route: 'workflow event_type',
  worker_workflow: 'worker workflow',
  workflow_definition: 'workflow definition',
  workflow_pause: 'workflow',
  schedule: 'id name owner made_by workflow plan',
  tick: 'schedule account run_id',
  run: 'id workflow schedule account parent_run origin origin_run handler received events_of',
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
  gathering: 'workflow run_id first_run',
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
  guard_use: 'class',
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
