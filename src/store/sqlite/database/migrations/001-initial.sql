-- Times are epoch milliseconds. JSON is text. Our ids sort by time, so new rows go to the end.

-- Incoming ----------------------------------------------------------------------------------------

-- An address that receives deliveries. A removed endpoint keeps its row: the ledger refers to it,
-- and its path is never reused.
CREATE TABLE endpoint (
  id          TEXT PRIMARY KEY,
  name        TEXT NOT NULL,
  path        TEXT NOT NULL UNIQUE,
  account     TEXT NOT NULL,
  events      TEXT NOT NULL,
  scheme      TEXT NOT NULL,
  status      TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  revision    INTEGER NOT NULL DEFAULT 0,
  removed_at  INTEGER
) STRICT;
CREATE UNIQUE INDEX endpoint_name ON endpoint (name) WHERE removed_at IS NULL;

-- The sealed secrets of an endpoint; the row of one goes when the endpoint is removed.
CREATE TABLE endpoint_secret (
  endpoint_id TEXT NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
  position    INTEGER NOT NULL,
  sealed      BLOB NOT NULL,
  active_from INTEGER NOT NULL,
  until       INTEGER,
  last_used_at INTEGER,
  PRIMARY KEY (endpoint_id, position)
) STRICT, WITHOUT ROWID;

-- One row. The version rises with each change of an endpoint and invalidates what processes cache.
CREATE TABLE endpoint_version (version INTEGER NOT NULL) STRICT;
INSERT INTO endpoint_version (version) VALUES (0);

-- An account of the service. Its keys are sealed under its name.
CREATE TABLE account (
  name         TEXT PRIMARY KEY,
  base_url     TEXT NOT NULL,
  api_key      BLOB NOT NULL,
  fallback_key BLOB,
  plan         TEXT NOT NULL,
  storages     TEXT NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every account that an endpoint ever named, or that has events of our own. An event is looked up by
-- account and id.
CREATE TABLE event_account (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- The ledger: one row per request that reached an endpoint. A refused one has no event.
CREATE TABLE delivery (
  id          TEXT PRIMARY KEY,
  endpoint_id TEXT,
  received_at INTEGER NOT NULL,
  verdict     TEXT NOT NULL,
  event_id    TEXT,
  event_seq   INTEGER,
  body_bytes  INTEGER,
  facts       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- The first delivery of an event is found by its id, which holds the event's own moment. So an
-- accepted delivery writes to no index.
CREATE INDEX delivery_repeat ON delivery (event_seq) WHERE verdict IN ('duplicate', 'conflict');
-- The oldest refusals of a verdict, which make room for newer ones.
CREATE INDEX delivery_refused ON delivery (verdict, id) WHERE event_id IS NULL;
CREATE INDEX delivery_conflict ON delivery (id) WHERE verdict = 'conflict';

-- Refusals by verdict. `listed`: rows in the ledger; `dropped`: refusals without a row, or whose
-- row made room.
CREATE TABLE refusal_tally (
  verdict     TEXT PRIMARY KEY,
  listed      INTEGER NOT NULL DEFAULT 0,
  dropped     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Accepted events that no workflow starts on, by type.
CREATE TABLE unmatched_tally (
  type        TEXT PRIMARY KEY,
  events      INTEGER NOT NULL,
  last_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Unverified deliveries of learning endpoints, sealed. `bytes` counts against the endpoint's limit.
CREATE TABLE capture (
  id          TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
  received_at INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  sealed      BLOB NOT NULL
) STRICT;
CREATE INDEX capture_endpoint ON capture (endpoint_id, id);

-- An event, stored once per account. `identity`: 16 bytes of a hash over account and id. `body` is
-- empty once pruned; `body_hash` is set only then.
CREATE TABLE event (
  seq         INTEGER PRIMARY KEY,
  segment     INTEGER NOT NULL,
  identity    BLOB NOT NULL,
  id          TEXT NOT NULL,
  account     TEXT NOT NULL,
  type        TEXT NOT NULL,
  origin      TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  body        TEXT NOT NULL,
  body_hash   BLOB
) STRICT;
-- A segment is 512 rows, so new events share a few warm pages of this index. See decision 3.
CREATE UNIQUE INDEX event_identity ON event (segment, identity);

-- The Bloom filter of each full block of 65,536 events.
CREATE TABLE event_block (
  number      INTEGER PRIMARY KEY,
  filter      BLOB NOT NULL
) STRICT;

-- The files and ids that an event tells of, for blocks of 4,096 events. `subject`: 48 bits of a
-- hash; 0 for an event with more than 64. Filled in the background up to `subject_indexed`.
CREATE TABLE event_subject (
  block       INTEGER NOT NULL,
  subject     INTEGER NOT NULL,
  seq         INTEGER NOT NULL,
  PRIMARY KEY (block, subject, seq)
) STRICT, WITHOUT ROWID;

-- One row: the newest event that is indexed.
CREATE TABLE subject_indexed (one INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;

-- Workflows ---------------------------------------------------------------------------------------

-- The authors' workflows, written by the process that loads their modules. Receiver, scheduler and
-- command line read them here.
CREATE TABLE workflow (
  id          TEXT PRIMARY KEY,
  file        TEXT NOT NULL,
  -- Of a callable one: the JSON Schema of its input.
  input       TEXT,
  -- The priority of a new run until its admission.
  priority    INTEGER NOT NULL,
  -- `timeout.run` in milliseconds.
  run_timeout INTEGER,
  loaded_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- An event type that starts a workflow.
CREATE TABLE route (
  workflow    TEXT NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
  event_type  TEXT NOT NULL,
  PRIMARY KEY (workflow, event_type)
) STRICT, WITHOUT ROWID;

-- One row. The version rises with each change of a workflow; 0 until modules are first loaded.
CREATE TABLE workflow_version (version INTEGER NOT NULL) STRICT;
INSERT INTO workflow_version (version) VALUES (0);

-- The workflows that each worker has loaded. A row counts only while its worker lives.
CREATE TABLE worker_workflow (
  worker      TEXT NOT NULL,
  workflow    TEXT NOT NULL,
  PRIMARY KEY (worker, workflow)
) STRICT, WITHOUT ROWID;

-- Workflows that a person paused.
CREATE TABLE workflow_pause (
  workflow    TEXT PRIMARY KEY,
  paused_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What starts runs by the clock: the cron line of a module, whose name this is, and what people and
-- code add. `input`: what a callable workflow gets; where `workflow` is null, the event to send.
CREATE TABLE schedule (
  id          TEXT PRIMARY KEY,
  name        TEXT NOT NULL,
  -- `module`, `person` or `code`; and the file, the person or the run that made it.
  owner       TEXT NOT NULL,
  made_by     TEXT NOT NULL,
  workflow    TEXT,
  -- When, and the rules for moments that were missed, as JSON.
  plan        TEXT NOT NULL,
  input       TEXT,
  -- Links of the chain of runs that made it, one soon after the other.
  depth       INTEGER NOT NULL DEFAULT 0,
  -- Rises with each change, so that nobody acts on what it was before.
  version     INTEGER NOT NULL DEFAULT 0,
  created_at  INTEGER NOT NULL,
  started_at  INTEGER NOT NULL,
  -- The latest moment that is handled, with a run or without.
  handled_at  INTEGER NOT NULL DEFAULT 0,
  -- When a scheduler looked at it last, and has to look again: at its next moment, or at once where it
  -- is new. NULL: it is done, or its module is gone.
  looked_at   INTEGER NOT NULL DEFAULT 0,
  next_at     INTEGER,
  done_at     INTEGER,
  paused_at   INTEGER,
  -- Moments without a run: missed while no scheduler ran, skipped because the tick before was at
  -- work, suppressed by a pause.
  missed      INTEGER NOT NULL DEFAULT 0,
  -- Those of them after the moment that is handled: its next tick tells of them, too.
  noted       INTEGER NOT NULL DEFAULT 0,
  skipped     INTEGER NOT NULL DEFAULT 0,
  suppressed  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX schedule_due      ON schedule (next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX schedule_done     ON schedule (done_at)     WHERE done_at IS NOT NULL;
CREATE INDEX schedule_workflow ON schedule (workflow, id);
CREATE INDEX schedule_missed   ON schedule (workflow)    WHERE missed > 0;
CREATE UNIQUE INDEX schedule_name ON schedule (name) WHERE owner <> 'module';

-- A due moment of a schedule, recorded once for each account that the schedule names.
CREATE TABLE tick (
  schedule      TEXT NOT NULL,
  scheduled_for INTEGER NOT NULL,
  account       TEXT NOT NULL,
  recorded_at   INTEGER NOT NULL,
  missed        INTEGER NOT NULL,
  run_id        TEXT NOT NULL,
  is_manual     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (schedule, scheduled_for, account)
) STRICT, WITHOUT ROWID;

-- Runs --------------------------------------------------------------------------------------------

-- One execution of a workflow, as it was made. Its cause is an event (`event_seq`), a tick (`tick_at` of
-- `schedule`),
-- or another run (`parent_run`, with `input`). `account`: null where its event names it. `origin`:
-- `event`, `tick`, `manual`, `replay`, `plan`, `fork`, `failure` or `continue`; `origin_run` is the run
-- that it was made from. `handler`: the function that it executes, `run`, or `onFailure` with the
-- `failure` of its origin run.
CREATE TABLE run (
  id          TEXT PRIMARY KEY,
  workflow    TEXT NOT NULL,
  event_seq   INTEGER,
  tick_at     INTEGER,
  schedule    TEXT,
  input       TEXT,
  account     TEXT,
  parent_run  TEXT,
  parent_step TEXT,
  -- The number of runs above it: the one that invoked it, the one that invoked that one, and so on.
  depth       INTEGER NOT NULL DEFAULT 0,
  -- Of an invoked run: 1 where it goes on although that one fails or is canceled, and the moment at
  -- which the step that waits for it gives up.
  outlives    INTEGER NOT NULL DEFAULT 0,
  ends_by     INTEGER,
  -- The newest event when the run was made; null where that is `event_seq`.
  since_seq   INTEGER,
  created_at  INTEGER NOT NULL,
  origin      TEXT NOT NULL DEFAULT 'event',
  origin_run  TEXT,
  handler     TEXT NOT NULL DEFAULT 'run',
  failure     TEXT,
  -- Of a run that goes on in another's place: the newest event when the first run of the chain was
  -- made, and the events that were taken, as JSON by stream.
  chain_seq   INTEGER,
  received    TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX run_caused  ON run (event_seq)  WHERE event_seq IS NOT NULL;
CREATE INDEX run_invoked ON run (parent_run, id) WHERE parent_run IS NOT NULL;
CREATE INDEX run_origin  ON run (origin_run) WHERE origin_run IS NOT NULL;

-- An unfinished run: the queue. Its row goes when the run ends, so that the queue stays small.
CREATE TABLE work (
  run_id      TEXT PRIMARY KEY,
  workflow    TEXT NOT NULL,
  status      TEXT NOT NULL,
  reason      TEXT,
  -- The negated priority.
  rank        INTEGER NOT NULL DEFAULT 0,
  due_at      INTEGER,
  fence       INTEGER NOT NULL DEFAULT 0,
  worker      TEXT,
  attempt     INTEGER NOT NULL DEFAULT 0,
  -- Deaths of its worker at which it alone was at work, and those among others: from 2 on, it is
  -- tried alone.
  crashes     INTEGER NOT NULL DEFAULT 0,
  suspicion   INTEGER NOT NULL DEFAULT 0,
  -- 1 while it waits for an event or another run.
  awaits      INTEGER NOT NULL DEFAULT 0,
  started_at  INTEGER,
  code_hash   TEXT,
  error       TEXT,
  -- The rest is null in a run whose workflow has no limits. `gates`: JSON of the gates to pass.
  gates       TEXT,
  -- 'in_line': in line at a gate; 'admitted': past all of them; 'outside': neither.
  gate_state  TEXT,
  -- The number of runs folded into this one.
  folded      INTEGER,
  -- Set for the run of a tick that is no handler of a failure.
  tick_at     INTEGER,
  tick_schedule TEXT,
  tick_account TEXT,
  -- The queue's order is (turn, run_id). Within a priority, those come first for which others stand in
  -- line: runs with a place, and those of ticks.
  turn        INTEGER NOT NULL GENERATED ALWAYS AS
    (2 * rank - (gate_state IS 'admitted' OR tick_at IS NOT NULL)) STORED
) STRICT, WITHOUT ROWID;
CREATE INDEX work_ready   ON work (turn, run_id) WHERE status = 'pending' AND suspicion < 2;
CREATE INDEX work_suspect ON work (turn, run_id) WHERE status = 'pending' AND suspicion >= 2;
CREATE INDEX work_waiting ON work (due_at)       WHERE status = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX work_untimed ON work (run_id)       WHERE status = 'waiting' AND due_at IS NULL;
CREATE INDEX work_leased  ON work (worker)       WHERE status = 'running';
CREATE INDEX work_paused  ON work (workflow, run_id)
  WHERE status = 'waiting' AND reason = 'the workflow is paused';
CREATE INDEX work_ticking ON work (tick_schedule, tick_account, tick_at) WHERE tick_at IS NOT NULL;

-- The end of a run. The row goes when a person retries it.
CREATE TABLE outcome (
  run_id      TEXT PRIMARY KEY,
  workflow    TEXT NOT NULL,
  status      TEXT NOT NULL,
  reason      TEXT,
  rank        INTEGER NOT NULL,
  fence       INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER NOT NULL,
  code_hash   TEXT,
  output      TEXT,
  -- Size of an output that is in `large_output`.
  apart_bytes INTEGER,
  error       TEXT,
  -- The kind of its failure.
  failure_group TEXT,
  -- A person's word that its failure needs nobody any more, as JSON { by, at, reason }.
  resolution  TEXT,
  -- 1 where a rule of its workflow canceled it, so that a retry would be canceled again.
  by_rule     INTEGER NOT NULL DEFAULT 0,
  gates       TEXT,
  gate_state  TEXT,
  folded      INTEGER,
  folded_into TEXT,
  -- The run that goes on in its place.
  continued_by TEXT
) STRICT, WITHOUT ROWID;
-- Questions of a person. A run that goes well enters none of them. See decision 41.
CREATE INDEX outcome_ended_badly ON outcome (status, run_id) WHERE status IN ('failed', 'canceled');
CREATE INDEX outcome_failed ON outcome (workflow, run_id) WHERE status = 'failed';
CREATE INDEX outcome_failed_end ON outcome (finished_at, run_id) WHERE status = 'failed';
CREATE INDEX outcome_failure_kind ON outcome (failure_group, finished_at)
  WHERE status = 'failed' AND resolution IS NULL;
CREATE INDEX outcome_resolved ON outcome (run_id) WHERE resolution IS NOT NULL;
CREATE INDEX outcome_folded ON outcome (folded_into) WHERE folded_into IS NOT NULL;

-- A run in all that is known of it. A condition on the status of one side only reads that side.
CREATE VIEW full_run AS
  SELECT run.*, coalesce(work.status, outcome.status) AS status, work.status AS work_status,
    outcome.status AS end_status, coalesce(work.reason, outcome.reason) AS reason,
    coalesce(work.rank, outcome.rank) AS rank, work.due_at, coalesce(work.fence, outcome.fence) AS fence, work.worker,
    coalesce(work.attempt, outcome.attempt) AS attempt, coalesce(work.suspicion, 0) AS suspicion,
    coalesce(work.awaits, 0) AS awaits, coalesce(work.started_at, outcome.started_at) AS started_at,
    outcome.finished_at, coalesce(work.code_hash, outcome.code_hash) AS code_hash, outcome.output,
    outcome.apart_bytes, coalesce(work.error, outcome.error) AS error, coalesce(outcome.by_rule, 0) AS by_rule,
    coalesce(work.gates, outcome.gates) AS gates, coalesce(work.gate_state, outcome.gate_state) AS gate_state,
    coalesce(work.folded, outcome.folded) AS folded, outcome.folded_into, outcome.continued_by,
    outcome.resolution, outcome.workflow AS end_workflow
  FROM run LEFT JOIN work ON work.run_id = run.id LEFT JOIN outcome ON outcome.run_id = run.id;

-- A step of a run, with its last attempt.
CREATE TABLE step (
  run_id      TEXT NOT NULL,
  key         TEXT NOT NULL,
  position    INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  effect      TEXT NOT NULL,
  status      TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  output      TEXT,
  apart_bytes INTEGER,
  error       TEXT,
  target      TEXT,
  started_at  INTEGER NOT NULL,
  finished_at INTEGER,
  due_at      INTEGER,
  -- Counts the outcomes of the run in the order in which its code got them. NULL in a finished step:
  -- position + 1. 0: delivered when the code asks.
  settled     INTEGER,
  -- The ledger row in which its effect began; null: it has not begun.
  effect_seq  INTEGER,
  -- Permits for that one effect: more than 1 where an attempt has no known end.
  permits     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;
-- Tells whether a deletion that the service reports was ours.
CREATE INDEX step_delete ON step (target) WHERE effect = 'delete' AND target IS NOT NULL;
-- The runs that have a hook, whose id is the target: the one that opened it, and its forks.
CREATE INDEX step_hook ON step (target) WHERE kind = 'hook';

-- Every failed attempt of a step.
CREATE TABLE step_failure (
  number      INTEGER PRIMARY KEY,
  run_id      TEXT NOT NULL,
  key         TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  failed_at   INTEGER NOT NULL,
  error       TEXT NOT NULL
) STRICT;
CREATE INDEX step_failure_run ON step_failure (run_id);

-- Log lines of runs, the newest 500 of each. A run that logs nothing has none.
CREATE TABLE run_log (
  run_id      TEXT NOT NULL,
  number      INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  level       TEXT NOT NULL,
  message     TEXT NOT NULL,
  facts       TEXT,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

-- The tags of runs, at most ten of each. A run without tags has no row.
CREATE TABLE run_tag (
  run_id      TEXT NOT NULL,
  name        TEXT NOT NULL,
  value       TEXT NOT NULL,
  PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_tag_value ON run_tag (name, value, run_id);

-- How far runs have come, by their own word. A run that says nothing has no row.
CREATE TABLE run_progress (
  run_id      TEXT PRIMARY KEY,
  done        REAL NOT NULL,
  total       REAL NOT NULL,
  failed      REAL NOT NULL,
  note        TEXT,
  -- Parts per second.
  rate        REAL,
  told_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Outputs too large for their row, compressed. The key of a run's own output is empty.
CREATE TABLE large_output (
  run_id      TEXT NOT NULL,
  key         TEXT NOT NULL,
  packed      BLOB NOT NULL,
  PRIMARY KEY (run_id, key)
) STRICT;

-- A process that executes runs, and when it last said that it is alive.
CREATE TABLE worker (
  id          TEXT PRIMARY KEY,
  lock_file   TEXT,
  started_at  INTEGER NOT NULL,
  seen_at     INTEGER NOT NULL
) STRICT;

-- Waits -------------------------------------------------------------------------------------------

-- An event (`type` …), another run (`child_run`), an approval or the end of a stop that a step waits
-- for, an answer of a hook, or an event that cancels the run. The row goes when the step or the run ends.
CREATE TABLE wait (
  run_id      TEXT NOT NULL,
  key         TEXT NOT NULL,
  is_cancel   INTEGER NOT NULL DEFAULT 0,
  account     TEXT,
  stream      INTEGER,
  type        TEXT,
  name        TEXT,
  value       TEXT,
  since_seq   INTEGER,
  child_run   TEXT,
  -- An approval, or `stop` for the end of one.
  approval    TEXT,
  -- For an approval: the run's fence, and for what is asked again the round in which the wait began.
  fence       INTEGER,
  round       INTEGER,
  -- A hook whose answer it is for.
  hook        TEXT,
  event_seq   INTEGER,
  -- 1 once the event came or the other run ended.
  is_resolved INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX wait_hook ON wait (hook) WHERE hook IS NOT NULL AND is_resolved = 0;
CREATE INDEX wait_open  ON wait (type, name, stream, account, value, since_seq)
  WHERE is_resolved = 0 AND type IS NOT NULL;
CREATE INDEX wait_child ON wait (child_run) WHERE child_run IS NOT NULL;
CREATE INDEX wait_approval ON wait (approval, run_id) WHERE approval IS NOT NULL;

-- Rounds in which held effects ask again: those of the guard (`guard`), and those of a stop (`stop`).
-- A wait of an earlier round is over. The place tells how far runs are woken; null: all are.
CREATE TABLE asking_again (
  what           TEXT PRIMARY KEY,
  round          INTEGER NOT NULL,
  after_approval TEXT,
  after_run      TEXT
) STRICT, WITHOUT ROWID;

-- How far events are matched for one key of a type, by one version of the author's functions.
-- `event_key` holds the keys of events after `floor_seq` up to `position_seq`.
CREATE TABLE match_cursor (
  id           INTEGER PRIMARY KEY,
  stream       INTEGER NOT NULL,
  type         TEXT NOT NULL,
  name         TEXT NOT NULL,
  version      TEXT NOT NULL,
  floor_seq    INTEGER NOT NULL,
  position_seq INTEGER NOT NULL,
  used_at      INTEGER NOT NULL,
  UNIQUE (type, name, version, stream)
) STRICT;

-- A key of an event, computed for a cursor.
CREATE TABLE event_key (
  cursor_id   INTEGER NOT NULL,
  account     TEXT NOT NULL,
  value       TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  PRIMARY KEY (cursor_id, account, value, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_key_age ON event_key (cursor_id, seq);

-- Hooks -------------------------------------------------------------------------------------------

-- A callback URL at which a run waits, opened by a step. `data`: JSON Schema of an answer. `sealed`:
-- the secret of a sender who signs. Nothing here is a part of the URL that grants anything.
CREATE TABLE hook (
  id          TEXT PRIMARY KEY,
  run_id      TEXT NOT NULL,
  step        TEXT NOT NULL,
  account     TEXT NOT NULL,
  ask         TEXT,
  data        TEXT,
  is_many     INTEGER NOT NULL,
  scheme      TEXT,
  sealed      BLOB,
  opened_at   INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX hook_run ON hook (run_id);

-- An answer of a hook, which is an event. `sameness`: equal for repetitions of one answer.
CREATE TABLE hook_answer (
  hook        TEXT NOT NULL,
  event_seq   INTEGER NOT NULL,
  sameness    TEXT NOT NULL,
  PRIMARY KEY (hook, event_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX hook_answer_sameness ON hook_answer (hook, sameness);

-- One row: the sealed key that makes and checks the tokens of all hooks.
CREATE TABLE hook_key (number INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT;

-- Limits ------------------------------------------------------------------------------------------

-- How many runs a gate admits, as the workflow's code said last: within `per_ms`, or at the same
-- time where that is null.
CREATE TABLE gate_rule (
  workflow    TEXT NOT NULL,
  gate        TEXT NOT NULL,
  max_runs    INTEGER NOT NULL,
  per_ms      INTEGER,
  PRIMARY KEY (workflow, gate)
) STRICT, WITHOUT ROWID;

-- A run's place at a gate: in line, or held. `rank` is the negated priority. A place with
-- `survives_sleep` is kept while the run sleeps.
CREATE TABLE place (
  workflow       TEXT NOT NULL,
  gate           TEXT NOT NULL,
  key            TEXT NOT NULL,
  is_held        INTEGER NOT NULL,
  rank           INTEGER NOT NULL,
  run_id         TEXT NOT NULL,
  survives_sleep INTEGER NOT NULL,
  wake_at        INTEGER,
  PRIMARY KEY (workflow, gate, key, is_held, rank, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX place_run ON place (run_id);

-- Starts that a throttle still counts, each until `until`.
CREATE TABLE throttle_start (
  workflow    TEXT NOT NULL,
  key         TEXT NOT NULL,
  until       INTEGER NOT NULL,
  run_id      TEXT NOT NULL,
  PRIMARY KEY (workflow, key, until, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX throttle_start_until ON throttle_start (until);

-- The run that gathers the events of a key, for a batch or a debounce, until it is due.
CREATE TABLE gathering (
  workflow    TEXT NOT NULL,
  key         TEXT NOT NULL,
  run_id      TEXT NOT NULL,
  since       INTEGER NOT NULL,
  due_at      INTEGER NOT NULL,
  wake_at     INTEGER,
  PRIMARY KEY (workflow, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX gathering_run ON gathering (run_id);

-- The state that processes with the same API key share. `key` is a hash of the API key; `version`
-- rises with each change.
CREATE TABLE key_limit (
  key         TEXT PRIMARY KEY,
  version     INTEGER NOT NULL,
  state       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Safety ------------------------------------------------------------------------------------------

-- An action of a person, appended in the commit of what it does and never changed.
CREATE TABLE audit (
  id          TEXT PRIMARY KEY,
  at          INTEGER NOT NULL,
  actor       TEXT NOT NULL,
  role        TEXT NOT NULL,
  origin      TEXT NOT NULL,
  action      TEXT NOT NULL,
  target      TEXT,
  reason      TEXT,
  parameters  TEXT NOT NULL,
  outcome     TEXT NOT NULL,
  error       TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_target ON audit (target, id) WHERE target IS NOT NULL;

CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'a row of the audit log is never changed');
END;
-- A person's verdict on a kind of failure. `failure_group`: the id that `groupFailure` gives it.
CREATE TABLE failure_state (
  failure_group TEXT PRIMARY KEY,
  kind          TEXT NOT NULL,
  note          TEXT,
  set_by        TEXT NOT NULL,
  set_at        INTEGER NOT NULL,
  until         INTEGER
) STRICT, WITHOUT ROWID;

-- An operation on many runs. `plan` and `count`: JSON. `cursor` moves in the commit of a slice.
CREATE TABLE bulk (
  id          TEXT PRIMARY KEY,
  plan        TEXT NOT NULL,
  status      TEXT NOT NULL,
  count       TEXT NOT NULL,
  cursor      TEXT,
  done        INTEGER NOT NULL DEFAULT 0,
  refused     INTEGER NOT NULL DEFAULT 0,
  -- The process that works on it, and when it last said so.
  owner       TEXT,
  seen_at     INTEGER,
  ended_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_open ON bulk (id) WHERE status IN ('counting', 'running');

-- A run or an event that an operation did not fit; the first thousand of each operation.
CREATE TABLE bulk_refusal (
  number      INTEGER PRIMARY KEY,
  bulk_id     TEXT NOT NULL,
  target      TEXT NOT NULL,
  why         TEXT NOT NULL
) STRICT;
CREATE INDEX bulk_refusal_of ON bulk_refusal (bulk_id);

-- First answers to requests with an Idempotency-Key, kept for 24 h. `request`: a hash. An answer
-- that is null has not been given yet.
CREATE TABLE kept_answer (
  caller      TEXT NOT NULL,
  key         TEXT NOT NULL,
  request     TEXT NOT NULL,
  answer      TEXT,
  at          INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_answer_age ON kept_answer (at);

-- Health ------------------------------------------------------------------------------------------

-- A running process; it writes its row every 10 s.
CREATE TABLE process (
  id           TEXT PRIMARY KEY,
  role         TEXT NOT NULL,
  pid          INTEGER NOT NULL,
  version      TEXT NOT NULL,
  admin_url    TEXT NOT NULL,
  receiver_url TEXT NOT NULL,
  started_at   INTEGER NOT NULL,
  seen_at      INTEGER NOT NULL,
  -- JSON: the modules that it could not load.
  broken       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Runs by the hour of their making, counted once the hour is over. Hours count from 1970.
CREATE TABLE run_hour (
  hour        INTEGER NOT NULL,
  workflow    TEXT NOT NULL,
  status      TEXT NOT NULL,
  runs        INTEGER NOT NULL,
  p50_ms      INTEGER,
  p95_ms      INTEGER,
  PRIMARY KEY (hour, workflow, status)
) STRICT, WITHOUT ROWID;

-- Deliveries by hour; the endpoint is empty for requests that reached none.
CREATE TABLE delivery_hour (
  hour        INTEGER NOT NULL,
  endpoint_id TEXT NOT NULL,
  verdict     TEXT NOT NULL,
  deliveries  INTEGER NOT NULL,
  PRIMARY KEY (hour, endpoint_id, verdict)
) STRICT, WITHOUT ROWID;

-- One row: the newest hour that is counted.
CREATE TABLE hour_counted (one INTEGER PRIMARY KEY, hour INTEGER NOT NULL) STRICT;

-- An hour of which a run ended, or began again, in a later hour.
CREATE TABLE run_hour_mark (hour INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT;

-- The memory of each alert rule, which all processes share; `book`: JSON.
CREATE TABLE alert_book (
  rule        TEXT PRIMARY KEY,
  book        TEXT NOT NULL,
  version     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the events of each type look like; one row, which all processes share. `book`: JSON.
CREATE TABLE shape_book (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  book        TEXT NOT NULL,
  version     INTEGER NOT NULL
) STRICT;

-- Sweeps -------------------------------------------------------------------------------------------

-- The sweeps of each storage. `state`: JSON; `version` rises with each change of it. `forgotten_to`:
-- when the last file was gone whose row was pruned.
CREATE TABLE sweep (
  id          INTEGER PRIMARY KEY,
  account     TEXT NOT NULL,
  storage     TEXT NOT NULL,
  state       TEXT NOT NULL,
  version     INTEGER NOT NULL,
  forgotten_to INTEGER,
  UNIQUE (account, storage)
) STRICT;

-- Each file that a sweep saw. There may be millions: only files that are gone have a second index.
-- `judged`: 1 for its arrival, 2 for its departure, 8 and 16 where an event told of one that is
-- pruned. `gone_at` 0: the listing does not have it any more.
CREATE TABLE known_file (
  sweep         INTEGER NOT NULL,
  file          TEXT NOT NULL,
  path          TEXT NOT NULL,
  size          INTEGER,
  created_at    INTEGER,
  modified_at   INTEGER,
  first_sweep   INTEGER NOT NULL,
  last_sweep    INTEGER NOT NULL,
  first_seen_at INTEGER NOT NULL,
  gone_at       INTEGER,
  judged        INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (sweep, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_file_gone ON known_file (gone_at) WHERE gone_at IS NOT NULL;

-- The files that stored events tell of.
CREATE TABLE file_event (
  account     TEXT NOT NULL,
  storage     TEXT NOT NULL,
  file        TEXT NOT NULL,
  type        TEXT NOT NULL,
  event       TEXT NOT NULL,
  at          INTEGER NOT NULL,
  PRIMARY KEY (account, storage, file, type, event)
) STRICT, WITHOUT ROWID;

-- How far events are matched to files; one row, which all processes share. `book`: JSON.
CREATE TABLE file_book (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  book        TEXT NOT NULL,
  version     INTEGER NOT NULL
) STRICT;

-- Files of which an event should have told, and none did.
CREATE TABLE file_finding (
  account     TEXT NOT NULL,
  storage     TEXT NOT NULL,
  file        TEXT NOT NULL,
  type        TEXT NOT NULL,
  state       TEXT NOT NULL,
  sweep       INTEGER NOT NULL,
  found_at    INTEGER NOT NULL,
  path        TEXT NOT NULL,
  entry       TEXT NOT NULL,
  reason      TEXT,
  approval    TEXT,
  event       TEXT,
  late_event  TEXT,
  PRIMARY KEY (account, storage, file, type)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_finding_state ON file_finding (state, found_at);
CREATE INDEX file_finding_found ON file_finding (found_at);

-- Access ------------------------------------------------------------------------------------------

-- Logins to the admin API. Secrets are stored as SHA-256 in hex.
CREATE TABLE admin_session (
  id          TEXT PRIMARY KEY,
  name        TEXT NOT NULL,
  role        TEXT NOT NULL,
  cookie_hash TEXT NOT NULL UNIQUE,
  key_hash    TEXT NOT NULL,
  address     TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  seen_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One-time codes of `upshot dashboard`; a row goes when its code is used or over.
CREATE TABLE login_code (
  hash        TEXT PRIMARY KEY,
  name        TEXT NOT NULL,
  role        TEXT NOT NULL,
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Keys of scripts. A revoked token keeps its row, because the audit names it.
CREATE TABLE admin_token (
  id           TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  role         TEXT NOT NULL,
  hash         TEXT NOT NULL UNIQUE,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER,
  revoked_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX admin_token_name ON admin_token (name) WHERE revoked_at IS NULL;

-- The effect ledger. `phase`: a delete has `begun` in the commit of its permit and `ended` in that of
-- its step (`of_seq`); a write has one row, `done`. Decisions and switches have rows, too.
CREATE TABLE effect (
  seq         INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  phase       TEXT NOT NULL,
  of_seq      INTEGER,
  class       TEXT NOT NULL,
  operation   TEXT NOT NULL,
  account     TEXT,
  target      TEXT,
  path        TEXT,
  bytes       INTEGER,
  workflow    TEXT,
  run_id      TEXT,
  step        TEXT,
  event_seq   INTEGER,
  code        TEXT,
  approval    TEXT,
  actor       TEXT,
  asked       TEXT,
  -- JSON: the state without which a delete must not happen; with the row that begins it.
  expect      TEXT,
  -- JSON: the state that a delete's own look found; with the row that ends it.
  before      TEXT,
  outcome     TEXT,
  proof       TEXT,
  error       TEXT
) STRICT;
-- Each gives its rows in the order of their moments, and of one moment in that of their numbers.
CREATE INDEX effect_at ON effect (at);
CREATE INDEX effect_target ON effect (target, at) WHERE target IS NOT NULL;
CREATE INDEX effect_path ON effect (path, at) WHERE path IS NOT NULL;
CREATE INDEX effect_run ON effect (run_id, at) WHERE run_id IS NOT NULL;
CREATE INDEX effect_workflow ON effect (workflow, at) WHERE workflow IS NOT NULL;

CREATE TRIGGER effect_is_final BEFORE UPDATE ON effect
BEGIN
  SELECT RAISE(ABORT, 'a row of the effect ledger is never changed');
END;

-- The chain over the effect ledger: a seal covers the rows after the seal before, up to `last`. `mac`
-- also covers the seal before. `pruned_to`: rows up to this one may go.
CREATE TABLE effect_seal (
  number      INTEGER PRIMARY KEY,
  kind        TEXT NOT NULL,
  at          INTEGER NOT NULL,
  key         INTEGER NOT NULL,
  last        INTEGER NOT NULL,
  rows        INTEGER NOT NULL,
  digest      BLOB NOT NULL,
  pruned_to   INTEGER,
  note        TEXT,
  mac         BLOB NOT NULL
) STRICT;
CREATE INDEX effect_seal_pruned ON effect_seal (pruned_to) WHERE pruned_to IS NOT NULL;
CREATE INDEX effect_seal_last ON effect_seal (last) WHERE kind = 'rows';

-- The keys of the chain, each sealed like a secret.
CREATE TABLE effect_key (
  number      INTEGER PRIMARY KEY,
  sealed      BLOB NOT NULL
) STRICT;

CREATE TRIGGER effect_stays BEFORE DELETE ON effect
WHEN OLD.seq > coalesce((SELECT max(pruned_to) FROM effect_seal WHERE pruned_to IS NOT NULL), 0)
BEGIN
  SELECT RAISE(ABORT, 'a row of the effect ledger goes by retention only');
END;

CREATE TRIGGER effect_seal_is_final BEFORE UPDATE ON effect_seal
BEGIN
  SELECT RAISE(ABORT, 'a seal is never changed');
END;

CREATE TRIGGER effect_seal_stays BEFORE DELETE ON effect_seal
BEGIN
  SELECT RAISE(ABORT, 'a seal is never removed');
END;

-- Effects counted by scope and slot of time. `width`: of the slot in milliseconds, 0 for a run.
CREATE TABLE guard_use (
  scope       TEXT NOT NULL,
  class       TEXT NOT NULL,
  width       INTEGER NOT NULL,
  slot        INTEGER NOT NULL,
  count       INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  PRIMARY KEY (scope, class, width, slot)
) STRICT, WITHOUT ROWID;

-- Places counted for a list of effects whose rows come in later commits, by the pass that asked.
CREATE TABLE guard_reserved (
  run_id      TEXT NOT NULL,
  fence       INTEGER NOT NULL,
  list        INTEGER NOT NULL,
  class       TEXT NOT NULL,
  -- Empty where the target is in none.
  storage     TEXT NOT NULL,
  folder      TEXT NOT NULL,
  workflow    TEXT NOT NULL,
  account     TEXT NOT NULL,
  at          INTEGER NOT NULL,
  count       INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  PRIMARY KEY (run_id, fence, list, class, storage, folder)
) STRICT, WITHOUT ROWID;

-- Stops in force. No delete and no `once` step begins that one of them covers.
CREATE TABLE effect_stop (
  kind        TEXT NOT NULL,
  name        TEXT NOT NULL,
  since       INTEGER NOT NULL,
  actor       TEXT NOT NULL,
  reason      TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- A list of effects (`guard`), or a question of a step, that people decide. `hold`: the limit or
-- step that it is for; each has one open approval at most.
CREATE TABLE approval (
  id          TEXT PRIMARY KEY,
  kind        TEXT NOT NULL,
  hold        TEXT NOT NULL,
  status      TEXT NOT NULL,
  workflow    TEXT NOT NULL,
  account     TEXT NOT NULL,
  why         TEXT NOT NULL,
  items       INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  hash        TEXT NOT NULL,
  needs       INTEGER NOT NULL,
  role        TEXT,
  question    TEXT,
  answer      TEXT,
  opened_at   INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  decided_at  INTEGER,
  -- JSON of the numbers that were approved, while items of a long list still have to be told.
  carrying    TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX approval_open ON approval (hold) WHERE status = 'open';
CREATE INDEX approval_carrying ON approval (id) WHERE carrying IS NOT NULL;
CREATE INDEX approval_hold ON approval (hold, id) WHERE kind = 'question';

CREATE TABLE approval_item (
  approval    TEXT NOT NULL,
  number      INTEGER NOT NULL,
  run_id      TEXT NOT NULL,
  step        TEXT NOT NULL,
  target      TEXT,
  asked       TEXT,
  bytes       INTEGER NOT NULL,
  hash        TEXT NOT NULL,
  state       TEXT NOT NULL,
  -- The run's fence when it asked.
  fence       INTEGER NOT NULL,
  PRIMARY KEY (approval, number)
) STRICT, WITHOUT ROWID;
-- The items of a step, of which one at most is neither withdrawn nor moved.
CREATE INDEX approval_item_step ON approval_item (run_id, step);
CREATE INDEX approval_item_open ON approval_item (approval, number) WHERE state = 'open';

-- Runs whose items and waits are taken back up to a fence, and how far that is done. Those items
-- count for nothing from the row's commit on.
CREATE TABLE withdrawal (
  run_id      TEXT PRIMARY KEY,
  fence       INTEGER NOT NULL,
  at          INTEGER,
  after_step  TEXT NOT NULL,
  after_key   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Runs that have ended or begun anew, whose children are canceled up to a run by its id.
CREATE TABLE closing (
  run_id      TEXT PRIMARY KEY,
  reason      TEXT NOT NULL,
  after_run   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE approval_vote (
  approval    TEXT NOT NULL,
  actor       TEXT NOT NULL,
  verdict     TEXT NOT NULL,
  reason      TEXT,
  hash        TEXT NOT NULL,
  items       TEXT,
  answer      TEXT,
  at          INTEGER NOT NULL,
  signature   BLOB,
  -- The ledger row of the same word.
  effect_seq  INTEGER NOT NULL,
  PRIMARY KEY (approval, actor)
) STRICT, WITHOUT ROWID;

-- People who may decide, removed ones included. From the first one on, every vote has to be signed.
-- `sealed`: key, roles and moments, under the number.
CREATE TABLE approver (
  number      INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  sealed      BLOB NOT NULL
) STRICT;

-- Upkeep ------------------------------------------------------------------------------------------

-- Pruned runs whose steps are still there, because they were too many for one commit.
CREATE TABLE pruned_run (
  run_id      TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- How far pruning has come in a table whose rows stay.
CREATE TABLE prune_mark (
  kind        TEXT PRIMARY KEY,
  position    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row, written to test whether the database can be written.
CREATE TABLE write_probe (written_at INTEGER NOT NULL) STRICT;
INSERT INTO write_probe (written_at) VALUES (0);
