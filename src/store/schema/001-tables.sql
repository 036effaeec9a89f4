-- The tables that both databases have. Each has other words for these:
--
--   word               SQLite                 PostgreSQL
--   text               TEXT                   text COLLATE "C"
--   bigint, real       INTEGER, REAL          bigint, double precision
--   bytes              BLOB                   bytea
--   serial             INTEGER PRIMARY KEY    bigint GENERATED ALWAYS AS IDENTITY
--   KEYED              WITHOUT ROWID          –
--   WEEKLY (column)    –                      PARTITION BY RANGE (column)
--
-- Times are epoch milliseconds. JSON is text. Our ids sort by time, in the order of their bytes, so
-- that new rows go to the end.

-- Incoming ----------------------------------------------------------------------------------------

-- An address that receives deliveries. A removed endpoint keeps its row: the ledger refers to it,
-- and its path is never reused.
CREATE TABLE endpoint (
  id          text PRIMARY KEY,
  name        text NOT NULL,
  path        text NOT NULL UNIQUE,
  account     text NOT NULL,
  events      text NOT NULL,
  scheme      text NOT NULL,
  status      text NOT NULL,
  created_at  bigint NOT NULL,
  revision    bigint NOT NULL DEFAULT 0,
  removed_at  bigint
);
CREATE UNIQUE INDEX endpoint_name ON endpoint (name) WHERE removed_at IS NULL;

-- The sealed secrets of an endpoint; the row of one goes when the endpoint is removed.
CREATE TABLE endpoint_secret (
  endpoint_id text NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
  position    bigint NOT NULL,
  sealed      bytes NOT NULL,
  active_from bigint NOT NULL,
  until       bigint,
  last_used_at bigint,
  PRIMARY KEY (endpoint_id, position)
) KEYED;

-- One row. The version rises with each change of an endpoint and invalidates what processes cache.
CREATE TABLE endpoint_version (version bigint NOT NULL);
INSERT INTO endpoint_version (version) VALUES (0);

-- An account of the service. Its keys are sealed under its name.
CREATE TABLE account (
  name         text PRIMARY KEY,
  base_url     text NOT NULL,
  api_key      bytes NOT NULL,
  fallback_key bytes,
  plan         text NOT NULL,
  storages     text NOT NULL,
  created_at   bigint NOT NULL
) KEYED;

-- Every account that an endpoint ever named, or that has events of our own. An event is looked up by
-- account and id.
CREATE TABLE event_account (name text PRIMARY KEY) KEYED;

-- The ledger: one row per request that reached an endpoint. A refused one has no event.
CREATE TABLE delivery (
  id          text PRIMARY KEY,
  endpoint_id text,
  received_at bigint NOT NULL,
  verdict     text NOT NULL,
  event_id    text,
  event_seq   bigint,
  body_bytes  bigint,
  facts       text NOT NULL
) KEYED WEEKLY (id);
-- The first delivery of an event is found by its id, which holds the event's own moment. So an
-- accepted delivery writes to no index, unless its endpoint leaves the type out.
CREATE INDEX delivery_repeat ON delivery (event_seq)
  WHERE verdict IN ('duplicate', 'conflict') OR facts LIKE '%"leftOut":true%';
-- The oldest refusals of a verdict, which make room for newer ones.
CREATE INDEX delivery_refused ON delivery (verdict, id) WHERE event_id IS NULL;
CREATE INDEX delivery_conflict ON delivery (id) WHERE verdict = 'conflict';

-- Refusals by verdict. `listed`: rows in the ledger; `dropped`: refusals without a row, or whose
-- row made room.
CREATE TABLE refusal_tally (
  verdict     text PRIMARY KEY,
  listed      bigint NOT NULL DEFAULT 0,
  dropped     bigint NOT NULL DEFAULT 0
) KEYED;

-- Accepted events that no workflow starts on, by type.
CREATE TABLE unmatched_tally (
  type        text PRIMARY KEY,
  events      bigint NOT NULL,
  last_at     bigint NOT NULL
) KEYED;

-- Unverified deliveries of learning endpoints, sealed. `bytes` counts against the endpoint's limit.
CREATE TABLE capture (
  id          text PRIMARY KEY,
  endpoint_id text NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
  received_at bigint NOT NULL,
  bytes       bigint NOT NULL,
  sealed      bytes NOT NULL
);
CREATE INDEX capture_endpoint ON capture (endpoint_id, id);

-- Workflows ---------------------------------------------------------------------------------------

-- The authors' workflows, written by the process that loads their modules. Receiver, scheduler and
-- command line read them here.
CREATE TABLE workflow (
  id          text PRIMARY KEY,
  file        text NOT NULL,
  -- Of a callable one: the JSON Schema of its input.
  input       text,
  -- The priority of a new run until its admission.
  priority    bigint NOT NULL,
  -- `timeout.run` in milliseconds.
  run_timeout bigint,
  loaded_at   bigint NOT NULL
) KEYED;

-- An event type that starts a workflow.
CREATE TABLE route (
  workflow    text NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
  event_type  text NOT NULL,
  PRIMARY KEY (workflow, event_type)
) KEYED;

-- One row. The version rises with each change of a workflow; 0 until modules are first loaded.
CREATE TABLE workflow_version (version bigint NOT NULL);
INSERT INTO workflow_version (version) VALUES (0);

-- The workflows that each worker has loaded, with the numbers of their definitions. A row counts only
-- while its worker lives.
CREATE TABLE worker_workflow (
  worker      text NOT NULL,
  workflow    text NOT NULL,
  definition  bigint NOT NULL,
  PRIMARY KEY (worker, workflow)
) KEYED;

-- The definitions that workers have, and the latest that they had, as JSON. Those of a workflow are
-- numbered in the order in which they came.
CREATE TABLE workflow_definition (
  workflow    text NOT NULL,
  number      bigint NOT NULL,
  definition  text NOT NULL,
  PRIMARY KEY (workflow, number)
) KEYED;

-- Workflows that a person paused.
CREATE TABLE workflow_pause (
  workflow    text PRIMARY KEY,
  paused_at   bigint NOT NULL
) KEYED;

-- What starts runs by the clock: the cron line of a module, whose name this is, and what people and
-- code add. `input`: what a callable workflow gets; where `workflow` is null, the event to send.
CREATE TABLE schedule (
  id          text PRIMARY KEY,
  name        text NOT NULL,
  -- `module`, `person` or `code`; and the file, the person or the run that made it.
  owner       text NOT NULL,
  made_by     text NOT NULL,
  workflow    text,
  -- When, and the rules for moments that were missed, as JSON.
  plan        text NOT NULL,
  input       text,
  -- Depth of the runs that it starts.
  depth       bigint NOT NULL DEFAULT 0,
  -- Rises with each change, so that nobody acts on what it was before.
  version     bigint NOT NULL DEFAULT 0,
  created_at  bigint NOT NULL,
  started_at  bigint NOT NULL,
  -- The latest moment that is handled, with a run or without.
  handled_at  bigint NOT NULL DEFAULT 0,
  -- When a scheduler looked at it last, and has to look again: at its next moment, or at once where it
  -- is new. NULL: it is done, or its module is gone.
  looked_at   bigint NOT NULL DEFAULT 0,
  next_at     bigint,
  done_at     bigint,
  paused_at   bigint,
  -- Moments without a run: missed while no scheduler ran, skipped because the tick before was at
  -- work, suppressed by a pause.
  missed      bigint NOT NULL DEFAULT 0,
  -- Those of them after the moment that is handled: its next tick tells of them, too.
  noted       bigint NOT NULL DEFAULT 0,
  skipped     bigint NOT NULL DEFAULT 0,
  suppressed  bigint NOT NULL DEFAULT 0
);
CREATE INDEX schedule_due      ON schedule (next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX schedule_done     ON schedule (done_at)     WHERE done_at IS NOT NULL;
CREATE INDEX schedule_workflow ON schedule (workflow, id);
CREATE INDEX schedule_missed   ON schedule (workflow)    WHERE missed > 0;
CREATE UNIQUE INDEX schedule_name ON schedule (name) WHERE owner <> 'module';

-- A due moment of a schedule, recorded once for each account that the schedule names.
CREATE TABLE tick (
  schedule      text NOT NULL,
  scheduled_for bigint NOT NULL,
  account       text NOT NULL,
  missed        bigint NOT NULL,
  run_id        text NOT NULL,
  is_manual     bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (schedule, scheduled_for, account)
) KEYED;

-- Runs --------------------------------------------------------------------------------------------

-- One execution of a workflow, as it was made. Its cause is an event (`event_seq`), a tick (`tick_at`
-- of `schedule`), or another run (`parent_run`, with `input`). `account`: null where its event names it. `origin`:
-- `event`, `tick`, `manual`, `replay`, `plan`, `fork`, `failure` or `continue`; `origin_run` is the run
-- that it was made from. `handler`: the function that it executes, `run`, or `onFailure` with the
-- `failure` of its origin run.
CREATE TABLE run (
  id          text PRIMARY KEY,
  workflow    text NOT NULL,
  event_seq   bigint,
  tick_at     bigint,
  schedule    text,
  input       text,
  account     text,
  parent_run  text,
  parent_step text,
  -- Of the chain of runs that invoked or scheduled one another up to it: 100 for each that began the
  -- next at once, 1 for each that left a minute or longer between.
  depth       bigint NOT NULL DEFAULT 0,
  -- Of an invoked run: 1 where it goes on although that one fails or is canceled, and the moment at
  -- which the step that waits for it gives up.
  outlives    bigint NOT NULL DEFAULT 0,
  ends_by     bigint,
  -- The newest event when the run was made; null where that is `event_seq`.
  since_seq   bigint,
  created_at  bigint NOT NULL,
  origin      text NOT NULL DEFAULT 'event',
  origin_run  text,
  handler     text NOT NULL DEFAULT 'run',
  failure     text,
  -- Of a run that goes on in another's place: the newest event when the first run of the chain was
  -- made, and the events that were taken, as JSON by stream.
  chain_seq   bigint,
  received    text,
  -- Of a fork or failure run of one into which others were folded: the run into which they were, and
  -- whose events it has. It may be pruned.
  events_of   text
) KEYED WEEKLY (id);
CREATE INDEX run_caused  ON run (event_seq)  WHERE event_seq IS NOT NULL;
CREATE INDEX run_invoked ON run (parent_run, id) WHERE parent_run IS NOT NULL;
CREATE INDEX run_origin  ON run (origin_run) WHERE origin_run IS NOT NULL;
CREATE INDEX run_events_of ON run (events_of) WHERE events_of IS NOT NULL;

-- An unfinished run: the queue. Its row goes when the run ends, so that the queue stays small.
CREATE TABLE work (
  run_id      text PRIMARY KEY,
  workflow    text NOT NULL,
  status      text NOT NULL,
  reason      text,
  -- The negated priority.
  rank        bigint NOT NULL DEFAULT 0,
  due_at      bigint,
  fence       bigint NOT NULL DEFAULT 0,
  worker      text,
  attempt     bigint NOT NULL DEFAULT 0,
  -- Deaths of its worker at which it alone was at work, and those among others: from 2 on, it is
  -- tried alone.
  crashes     bigint NOT NULL DEFAULT 0,
  suspicion   bigint NOT NULL DEFAULT 0,
  -- 1 while it waits for an event or another run.
  awaits      bigint NOT NULL DEFAULT 0,
  started_at  bigint,
  code_hash   text,
  error       text,
  -- The rest is null in a run whose workflow has no limits. `gates`: JSON of the gates to pass.
  gates       text,
  -- 'in_line': in line at a gate; 'admitted': past all of them; 'outside': neither.
  gate_state  text,
  -- The number of runs folded into this one.
  folded      bigint,
  -- Set for the run of a tick that is no handler of a failure.
  tick_at     bigint,
  tick_schedule text,
  tick_account text,
  -- The number of the call that claimed, admitted or parked it last, by which a lost answer is found
  -- again. Null where there is no network between.
  claim       bigint,
  -- The queue's order is (turn, run_id). Within a priority, those come first for which others stand in
  -- line: runs with a slot, and those of ticks.
  turn        bigint NOT NULL GENERATED ALWAYS AS
    (2 * rank - CASE WHEN gate_state = 'admitted' OR tick_at IS NOT NULL THEN 1 ELSE 0 END) STORED
) KEYED;
CREATE INDEX work_ready   ON work (turn, run_id) WHERE status = 'pending' AND suspicion < 2;
CREATE INDEX work_suspect ON work (turn, run_id) WHERE status = 'pending' AND suspicion >= 2;
CREATE INDEX work_waiting ON work (due_at)       WHERE status = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX work_untimed ON work (run_id)       WHERE status = 'waiting' AND due_at IS NULL;
-- Runs that only a person lets go on are few, however many wait for events.
CREATE INDEX work_for_person ON work (run_id)
  WHERE status = 'waiting' AND due_at IS NULL AND awaits = 0 AND gate_state IS DISTINCT FROM 'in_line'
    AND reason NOT IN ('the workflow is paused', 'the tick before it is not finished');
CREATE INDEX work_paused  ON work (workflow, run_id)
  WHERE status = 'waiting' AND reason = 'the workflow is paused';
CREATE INDEX work_ticking ON work (tick_schedule, tick_account, tick_at) WHERE tick_at IS NOT NULL;

-- The end of a run. The row goes when a person retries it.
CREATE TABLE outcome (
  run_id      text PRIMARY KEY,
  workflow    text NOT NULL,
  status      text NOT NULL,
  reason      text,
  rank        bigint NOT NULL,
  fence       bigint NOT NULL,
  attempt     bigint NOT NULL,
  started_at  bigint,
  finished_at bigint NOT NULL,
  code_hash   text,
  output      text,
  -- Size of an output that is in `large_output`.
  apart_bytes bigint,
  error       text,
  -- The kind of its failure.
  failure_group text,
  -- A person's word that its failure needs nobody any more, as JSON { by, at, reason }.
  resolution  text,
  -- 1 where a rule of its workflow canceled it, so that a retry would be canceled again.
  by_rule     bigint NOT NULL DEFAULT 0,
  gates       text,
  gate_state  text,
  folded      bigint,
  folded_into text,
  -- The run that goes on in its place.
  continued_by text
) KEYED WEEKLY (run_id);
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
  run_id      text NOT NULL,
  key         text NOT NULL,
  position    bigint NOT NULL,
  kind        text NOT NULL,
  effect      text NOT NULL,
  status      text NOT NULL,
  attempt     bigint NOT NULL,
  output      text,
  apart_bytes bigint,
  error       text,
  target      text,
  started_at  bigint NOT NULL,
  finished_at bigint,
  due_at      bigint,
  -- Counts the outcomes of the run in the order in which its code got them. NULL in a finished step:
  -- position + 1. 0: delivered when the code asks.
  settled     bigint,
  -- The ledger row in which its effect began; null: it has not begun.
  effect_seq  bigint,
  -- Permits for that one effect: more than 1 where an attempt has no known end.
  permits     bigint NOT NULL DEFAULT 0,
  -- The file as its delete found it right before a request, as JSON text of a state.
  seen        text,
  PRIMARY KEY (run_id, key)
) KEYED WEEKLY (run_id);
-- Tells whether a deletion that the service reports was ours.
CREATE INDEX step_delete ON step (substr(target, 1, 500)) WHERE effect = 'delete' AND target IS NOT NULL;
-- The runs that have a hook, whose id is the target: the one that opened it, and its forks.
CREATE INDEX step_hook ON step (target) WHERE kind = 'hook';

-- Every failed attempt of a step.
CREATE TABLE step_failure (
  number      serial,
  run_id      text NOT NULL,
  key         text NOT NULL,
  attempt     bigint NOT NULL,
  failed_at   bigint NOT NULL,
  error       text NOT NULL
) WEEKLY (run_id);
CREATE INDEX step_failure_run ON step_failure (run_id);

-- Log lines of runs, the newest 500 of each. A run that logs nothing has none.
CREATE TABLE run_log (
  run_id      text NOT NULL,
  number      bigint NOT NULL,
  at          bigint NOT NULL,
  level       text NOT NULL,
  message     text NOT NULL,
  facts       text,
  PRIMARY KEY (run_id, number)
) KEYED WEEKLY (run_id);

-- The tags of runs, at most ten of each. A run without tags has no row.
CREATE TABLE run_tag (
  run_id      text NOT NULL,
  name        text NOT NULL,
  value       text NOT NULL,
  PRIMARY KEY (run_id, name)
) KEYED WEEKLY (run_id);
CREATE INDEX run_tag_value ON run_tag (name, value, run_id);

-- How far runs have come, by their own word. A run that says nothing has no row.
CREATE TABLE run_progress (
  run_id      text PRIMARY KEY,
  done        real NOT NULL,
  total       real NOT NULL,
  failed      real NOT NULL,
  note        text,
  -- Parts per second.
  rate        real,
  reported_at bigint NOT NULL
) KEYED WEEKLY (run_id);

-- Outputs too large for their row, compressed. The key of a run's own output is empty.
CREATE TABLE large_output (
  run_id      text NOT NULL,
  key         text NOT NULL,
  packed      bytes NOT NULL,
  PRIMARY KEY (run_id, key)
) WEEKLY (run_id);

-- A process that executes runs, and when it last said that it is alive.
CREATE TABLE worker (
  id          text PRIMARY KEY,
  started_at  bigint NOT NULL,
  seen_at     bigint NOT NULL
);

-- Waits -------------------------------------------------------------------------------------------

-- An event (`type` …), another run (`child_run`), an approval or the end of a stop that a step waits
-- for, an answer of a hook, or an event that cancels the run. The row goes when the step or the run ends.
CREATE TABLE wait (
  run_id      text NOT NULL,
  key         text NOT NULL,
  is_cancel   bigint NOT NULL DEFAULT 0,
  account     text,
  stream      bigint,
  type        text,
  name        text,
  value       text,
  since_seq   bigint,
  child_run   text,
  -- An approval, or `stop` for the end of one.
  approval    text,
  -- For an approval: the run's fence, and for what is asked again the round in which the wait began.
  fence       bigint,
  round       bigint,
  -- A hook whose answer it is for.
  hook        text,
  event_seq   bigint,
  -- 1 once the event came or the other run ended.
  is_resolved bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, key)
) KEYED;
CREATE INDEX wait_hook ON wait (hook) WHERE hook IS NOT NULL AND is_resolved = 0;
CREATE INDEX wait_open  ON wait (type, name, stream, account, value, since_seq)
  WHERE is_resolved = 0 AND type IS NOT NULL;
CREATE INDEX wait_child ON wait (child_run) WHERE child_run IS NOT NULL;
CREATE INDEX wait_approval ON wait (approval, run_id) WHERE approval IS NOT NULL;

-- Rounds in which held effects ask again: those of the guard (`guard`), and those of a stop (`stop`).
-- A wait of an earlier round is over. The place tells how far runs are woken; null: all are.
CREATE TABLE asking_again (
  what           text PRIMARY KEY,
  round          bigint NOT NULL,
  after_approval text,
  after_run      text
) KEYED;

-- How far events are matched for one key of a type, by one version of the author's functions.
-- `event_key` holds the keys of events after `floor_seq` up to `position_seq`.
CREATE TABLE match_cursor (
  id           serial PRIMARY KEY,
  stream       bigint NOT NULL,
  type         text NOT NULL,
  name         text NOT NULL,
  version      text NOT NULL,
  floor_seq    bigint NOT NULL,
  position_seq bigint NOT NULL,
  used_at      bigint NOT NULL,
  UNIQUE (type, name, version, stream)
);

-- A key of an event, computed for a cursor.
CREATE TABLE event_key (
  cursor_id   bigint NOT NULL,
  account     text NOT NULL,
  value       text NOT NULL,
  seq         bigint NOT NULL,
  PRIMARY KEY (cursor_id, account, value, seq)
) KEYED;
CREATE INDEX event_key_age ON event_key (cursor_id, seq);

-- Hooks -------------------------------------------------------------------------------------------

-- A callback URL at which a run waits, opened by a step. `data`: JSON Schema of an answer. `sealed`:
-- the secret of a sender who signs. Nothing here is a part of the URL that grants anything.
CREATE TABLE hook (
  id          text PRIMARY KEY,
  run_id      text NOT NULL,
  step        text NOT NULL,
  account     text NOT NULL,
  ask         text,
  data        text,
  is_many     bigint NOT NULL,
  scheme      text,
  sealed      bytes,
  opened_at   bigint NOT NULL,
  expires_at  bigint NOT NULL
) KEYED;
CREATE INDEX hook_run ON hook (run_id);

-- An answer of a hook, which is an event. `sameness`: equal for repetitions of one answer.
CREATE TABLE hook_answer (
  hook        text NOT NULL,
  event_seq   bigint NOT NULL,
  sameness    text NOT NULL,
  PRIMARY KEY (hook, event_seq)
) KEYED;
CREATE INDEX hook_answer_sameness ON hook_answer (hook, sameness);

-- One row: the sealed key that makes and checks the tokens of all hooks.
CREATE TABLE hook_key (number bigint PRIMARY KEY, sealed bytes NOT NULL);

-- Limits ------------------------------------------------------------------------------------------

-- How many runs a gate admits, as the workflow's code said last: within `per_ms`, or at the same
-- time where that is null.
CREATE TABLE gate_rule (
  workflow    text NOT NULL,
  gate        text NOT NULL,
  max_runs    bigint NOT NULL,
  per_ms      bigint,
  PRIMARY KEY (workflow, gate)
) KEYED;

-- A run's slot at a gate: in line, or held. `rank` is the negated priority. A slot with
-- `survives_sleep` is kept while the run sleeps.
CREATE TABLE gate_slot (
  workflow       text NOT NULL,
  gate           text NOT NULL,
  key            text NOT NULL,
  is_held        bigint NOT NULL,
  rank           bigint NOT NULL,
  run_id         text NOT NULL,
  survives_sleep bigint NOT NULL,
  wake_at        bigint,
  PRIMARY KEY (workflow, gate, key, is_held, rank, run_id)
) KEYED;
CREATE INDEX gate_slot_run ON gate_slot (run_id);

-- Starts that a throttle still counts, each until `until`.
CREATE TABLE throttle_start (
  workflow    text NOT NULL,
  key         text NOT NULL,
  until       bigint NOT NULL,
  run_id      text NOT NULL,
  PRIMARY KEY (workflow, key, until, run_id)
) KEYED;
CREATE INDEX throttle_start_until ON throttle_start (until);

-- The run that gathers the events of a key, for a batch or a debounce, until it is due.
CREATE TABLE gathering (
  workflow    text NOT NULL,
  key         text NOT NULL,
  run_id      text NOT NULL,
  since       bigint NOT NULL,
  due_at      bigint NOT NULL,
  wake_at     bigint,
  -- The first run whose place a newer one took; those between are folded into it. Null: none was.
  first_run   text,
  PRIMARY KEY (workflow, key)
) KEYED;
CREATE INDEX gathering_run ON gathering (run_id);

-- The state that processes with the same API key share. `key` is a hash of the API key; `version`
-- rises with each change.
CREATE TABLE key_limit (
  key         text PRIMARY KEY,
  version     bigint NOT NULL,
  state       text NOT NULL
) KEYED;

-- Safety ------------------------------------------------------------------------------------------

-- An action of a person, appended in the commit of what it does and never changed.
CREATE TABLE audit (
  id          text PRIMARY KEY,
  at          bigint NOT NULL,
  actor       text NOT NULL,
  role        text NOT NULL,
  origin      text NOT NULL,
  action      text NOT NULL,
  target      text,
  reason      text,
  parameters  text NOT NULL,
  outcome     text NOT NULL,
  error       text
) KEYED;
CREATE INDEX audit_target ON audit (target, id) WHERE target IS NOT NULL;

-- A person's verdict on a kind of failure. `failure_group`: the id that `groupFailure` gives it.
CREATE TABLE failure_state (
  failure_group text PRIMARY KEY,
  kind          text NOT NULL,
  note          text,
  set_by        text NOT NULL,
  set_at        bigint NOT NULL,
  until         bigint
) KEYED;

-- An operation on many runs. `plan` and `count`: JSON. `cursor` moves in the commit of a slice.
CREATE TABLE bulk (
  id          text PRIMARY KEY,
  plan        text NOT NULL,
  status      text NOT NULL,
  count       text NOT NULL,
  cursor      text,
  done        bigint NOT NULL DEFAULT 0,
  refused     bigint NOT NULL DEFAULT 0,
  -- The process that works on it, and when it last said so.
  owner       text,
  seen_at     bigint,
  ended_at    bigint
) KEYED;
CREATE INDEX bulk_open ON bulk (id) WHERE status IN ('counting', 'running');

-- A run or an event that an operation did not fit; the first thousand of each operation.
CREATE TABLE bulk_refusal (
  number      serial,
  bulk_id     text NOT NULL,
  target      text NOT NULL,
  why         text NOT NULL
);
CREATE INDEX bulk_refusal_of ON bulk_refusal (bulk_id);

-- First answers to requests with an Idempotency-Key, kept for 24 h. `request`: a hash. An answer
-- that is null has not been given yet.
CREATE TABLE kept_answer (
  caller      text NOT NULL,
  key         text NOT NULL,
  request     text NOT NULL,
  answer      text,
  at          bigint NOT NULL,
  PRIMARY KEY (caller, key)
) KEYED;
CREATE INDEX kept_answer_age ON kept_answer (at);

-- Health ------------------------------------------------------------------------------------------

-- A running process; it writes its row every 10 s.
CREATE TABLE process (
  id           text PRIMARY KEY,
  role         text NOT NULL,
  pid          bigint NOT NULL,
  version      text NOT NULL,
  admin_url    text NOT NULL,
  receiver_url text NOT NULL,
  started_at   bigint NOT NULL,
  seen_at      bigint NOT NULL,
  -- JSON: the modules that it could not load.
  broken       text NOT NULL
) KEYED;

-- Runs by the hour of their making, counted once the hour is over. Hours count from 1970.
CREATE TABLE run_hour (
  hour        bigint NOT NULL,
  workflow    text NOT NULL,
  status      text NOT NULL,
  runs        bigint NOT NULL,
  p50_ms      bigint,
  p95_ms      bigint,
  PRIMARY KEY (hour, workflow, status)
) KEYED;

-- Deliveries by hour; the endpoint is empty for requests that reached none.
CREATE TABLE delivery_hour (
  hour        bigint NOT NULL,
  endpoint_id text NOT NULL,
  verdict     text NOT NULL,
  deliveries  bigint NOT NULL,
  PRIMARY KEY (hour, endpoint_id, verdict)
) KEYED;

-- One row: the newest hour that is counted.
CREATE TABLE hour_counted (one bigint PRIMARY KEY, hour bigint NOT NULL);

-- An hour of which a run ended, or began again, in a later hour.
CREATE TABLE run_hour_mark (hour bigint PRIMARY KEY, version bigint NOT NULL);

-- The memory of each alert rule, which all processes share; `book`: JSON.
CREATE TABLE alert_book (
  rule        text PRIMARY KEY,
  book        text NOT NULL,
  version     bigint NOT NULL
) KEYED;

-- What the events of each type look like; one row, which all processes share. `book`: JSON.
CREATE TABLE shape_book (
  id          bigint PRIMARY KEY CHECK (id = 1),
  book        text NOT NULL,
  version     bigint NOT NULL
);

-- Sweeps -------------------------------------------------------------------------------------------

-- The sweeps of each storage. `state`: JSON; `version` rises with each change of it. `forgotten_to`:
-- when the last file was gone whose row was pruned.
CREATE TABLE sweep (
  id          serial PRIMARY KEY,
  account     text NOT NULL,
  storage     text NOT NULL,
  state       text NOT NULL,
  version     bigint NOT NULL,
  forgotten_to bigint,
  UNIQUE (account, storage)
);

-- Each file that a sweep saw. There may be millions: only files that are gone have a second index.
-- `judged`: 1 for its arrival, 2 for its departure, 8 and 16 where an event told of one that is
-- pruned. `gone_at` 0: the listing does not have it any more.
CREATE TABLE known_file (
  sweep         bigint NOT NULL,
  file          text NOT NULL,
  path          text NOT NULL,
  size          bigint,
  created_at    bigint,
  modified_at   bigint,
  first_sweep   bigint NOT NULL,
  last_sweep    bigint NOT NULL,
  first_seen_at bigint NOT NULL,
  gone_at       bigint,
  judged        bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (sweep, file)
) KEYED;
CREATE INDEX known_file_gone ON known_file (gone_at) WHERE gone_at IS NOT NULL;

-- The files that stored events tell of.
CREATE TABLE file_event (
  account     text NOT NULL,
  storage     text NOT NULL,
  file        text NOT NULL,
  type        text NOT NULL,
  event       text NOT NULL,
  at          bigint NOT NULL,
  PRIMARY KEY (account, storage, file, type, event)
) KEYED;

-- How far events are matched to files; one row, which all processes share. `book`: JSON.
CREATE TABLE file_book (
  id          bigint PRIMARY KEY CHECK (id = 1),
  book        text NOT NULL,
  version     bigint NOT NULL
);

-- Files of which an event should have told, and none did.
CREATE TABLE file_finding (
  account     text NOT NULL,
  storage     text NOT NULL,
  file        text NOT NULL,
  type        text NOT NULL,
  state       text NOT NULL,
  sweep       bigint NOT NULL,
  found_at    bigint NOT NULL,
  path        text NOT NULL,
  entry       text NOT NULL,
  reason      text,
  approval    text,
  event       text,
  late_event  text,
  PRIMARY KEY (account, storage, file, type)
) KEYED;
CREATE INDEX file_finding_state ON file_finding (state, found_at);
CREATE INDEX file_finding_found ON file_finding (found_at);

-- Access ------------------------------------------------------------------------------------------

-- Logins to the admin API. Secrets are stored as SHA-256 in hex.
CREATE TABLE admin_session (
  id          text PRIMARY KEY,
  name        text NOT NULL,
  role        text NOT NULL,
  cookie_hash text NOT NULL UNIQUE,
  key_hash    text NOT NULL,
  address     text NOT NULL,
  created_at  bigint NOT NULL,
  seen_at     bigint NOT NULL
) KEYED;

-- One-time codes of `upshot dashboard`; a row goes when its code is used or over.
CREATE TABLE login_code (
  hash        text PRIMARY KEY,
  name        text NOT NULL,
  role        text NOT NULL,
  expires_at  bigint NOT NULL
) KEYED;

-- Keys of scripts. A revoked token keeps its row, because the audit names it.
CREATE TABLE admin_token (
  id           text PRIMARY KEY,
  name         text NOT NULL,
  role         text NOT NULL,
  hash         text NOT NULL UNIQUE,
  created_at   bigint NOT NULL,
  expires_at   bigint,
  last_used_at bigint,
  revoked_at   bigint
) KEYED;
CREATE UNIQUE INDEX admin_token_name ON admin_token (name) WHERE revoked_at IS NULL;

-- The effect ledger. `phase`: a delete has `begun` in the commit of its permit and `ended` in that of
-- its step (`of_seq`); a write has one row, `done`. Decisions and switches have rows, too.
CREATE TABLE effect (
  seq         serial PRIMARY KEY,
  at          bigint NOT NULL,
  phase       text NOT NULL,
  of_seq      bigint,
  class       text NOT NULL,
  operation   text NOT NULL,
  account     text,
  target      text,
  path        text,
  bytes       bigint,
  workflow    text,
  run_id      text,
  step        text,
  event_seq   bigint,
  code        text,
  approval    text,
  actor       text,
  asked       text,
  -- JSON: the state without which a delete must not happen; with the row that begins it.
  expect      text,
  -- JSON: the state that a delete's own look found; with the row that ends it.
  before      text,
  outcome     text,
  proof       text,
  error       text,
  -- JSON: the row in which a person erased text of this one, and the MAC of the text of before.
  erased      text
);
-- Each gives its rows in the order of their moments, and of one moment in that of their numbers.
CREATE INDEX effect_at ON effect (at, seq);
CREATE INDEX effect_target ON effect (substr(target, 1, 500), at, seq) WHERE target IS NOT NULL;
CREATE INDEX effect_path ON effect (substr(path, 1, 500), at, seq) WHERE path IS NOT NULL;
CREATE INDEX effect_run ON effect (run_id, at, seq) WHERE run_id IS NOT NULL;
CREATE INDEX effect_workflow ON effect (workflow, at, seq) WHERE workflow IS NOT NULL;

-- The chain over the effect ledger: a seal covers the rows after the seal before, up to `last`. `mac`
-- also covers the seal before. `pruned_to`: rows up to this one may go.
CREATE TABLE effect_seal (
  number      bigint PRIMARY KEY,
  kind        text NOT NULL,
  at          bigint NOT NULL,
  key         bigint NOT NULL,
  last        bigint NOT NULL,
  rows        bigint NOT NULL,
  digest      bytes NOT NULL,
  pruned_to   bigint,
  note        text,
  mac         bytes NOT NULL
);
CREATE INDEX effect_seal_pruned ON effect_seal (pruned_to) WHERE pruned_to IS NOT NULL;
CREATE INDEX effect_seal_last ON effect_seal (last) WHERE kind = 'rows';

-- The keys of the chain, each sealed like a secret.
CREATE TABLE effect_key (
  number      bigint PRIMARY KEY,
  sealed      bytes NOT NULL
);

-- Effects counted by scope and bucket of time. `width`: of the bucket in milliseconds, 0 for a run.
CREATE TABLE guard_use (
  scope       text NOT NULL,
  class       text NOT NULL,
  width       bigint NOT NULL,
  bucket      bigint NOT NULL,
  count       bigint NOT NULL,
  bytes       bigint NOT NULL,
  PRIMARY KEY (scope, class, width, bucket)
) KEYED;

-- Effects of a list that are counted before the commits of their rows, by the pass that asked.
CREATE TABLE guard_reserved (
  run_id      text NOT NULL,
  fence       bigint NOT NULL,
  list        bigint NOT NULL,
  class       text NOT NULL,
  -- Empty where the target is in none.
  storage     text NOT NULL,
  folder      text NOT NULL,
  workflow    text NOT NULL,
  account     text NOT NULL,
  at          bigint NOT NULL,
  count       bigint NOT NULL,
  bytes       bigint NOT NULL,
  PRIMARY KEY (run_id, fence, list, class, storage, folder)
) KEYED;

-- Stops in force. No delete and no `once` step begins that one of them covers.
CREATE TABLE effect_stop (
  kind        text NOT NULL,
  name        text NOT NULL,
  since       bigint NOT NULL,
  actor       text NOT NULL,
  reason      text NOT NULL,
  PRIMARY KEY (kind, name)
) KEYED;

-- A list of effects (`guard`), or a question of a step, that people decide. `asked_by`: the limit or
-- step that asks; each has one open approval at most.
CREATE TABLE approval (
  id          text PRIMARY KEY,
  kind        text NOT NULL,
  asked_by    text NOT NULL,
  status      text NOT NULL,
  workflow    text NOT NULL,
  account     text NOT NULL,
  why         text NOT NULL,
  items       bigint NOT NULL,
  bytes       bigint NOT NULL,
  hash        text NOT NULL,
  needs       bigint NOT NULL,
  role        text,
  question    text,
  answer      text,
  opened_at   bigint NOT NULL,
  expires_at  bigint NOT NULL,
  decided_at  bigint,
  -- JSON of the numbers that were approved, while items of a long list still have to be told.
  carrying    text
) KEYED;
CREATE UNIQUE INDEX approval_open ON approval (asked_by) WHERE status = 'open';
CREATE INDEX approval_carrying ON approval (id) WHERE carrying IS NOT NULL;
CREATE INDEX approval_asked_by ON approval (asked_by, id) WHERE kind = 'question';

CREATE TABLE approval_item (
  approval    text NOT NULL,
  number      bigint NOT NULL,
  run_id      text NOT NULL,
  step        text NOT NULL,
  target      text,
  asked       text,
  bytes       bigint NOT NULL,
  hash        text NOT NULL,
  state       text NOT NULL,
  -- The run's fence when it asked.
  fence       bigint NOT NULL,
  PRIMARY KEY (approval, number)
) KEYED;
-- The items of a step, of which one at most is neither withdrawn nor moved.
CREATE INDEX approval_item_step ON approval_item (run_id, step);
CREATE INDEX approval_item_open ON approval_item (approval, number) WHERE state = 'open';

-- Runs whose items and waits are taken back up to a fence, and how far that is done. Those items
-- count for nothing from the row's commit on.
CREATE TABLE withdrawal (
  run_id      text PRIMARY KEY,
  fence       bigint NOT NULL,
  at          bigint,
  after_step  text NOT NULL,
  after_key   text NOT NULL
) KEYED;

-- Runs that have ended or begun anew, whose children are canceled up to a run by its id.
CREATE TABLE closing (
  run_id      text PRIMARY KEY,
  reason      text NOT NULL,
  after_run   text NOT NULL
) KEYED;

CREATE TABLE approval_vote (
  approval    text NOT NULL,
  actor       text NOT NULL,
  verdict     text NOT NULL,
  reason      text,
  hash        text NOT NULL,
  items       text,
  answer      text,
  at          bigint NOT NULL,
  signature   bytes,
  -- The ledger row of the same word.
  effect_seq  bigint NOT NULL,
  PRIMARY KEY (approval, actor)
) KEYED;

-- People who may decide, removed ones included. From the first one on, every vote has to be signed.
-- `sealed`: key, roles and moments, under the number.
CREATE TABLE approver (
  number      bigint PRIMARY KEY,
  name        text NOT NULL,
  sealed      bytes NOT NULL
);

-- Upkeep ------------------------------------------------------------------------------------------

-- Pruned runs whose steps are still there, because they were too many for one commit.
CREATE TABLE pruned_run (
  run_id      text PRIMARY KEY
) KEYED;

-- One row, written to test whether the database can be written.
CREATE TABLE write_probe (written_at bigint NOT NULL);
INSERT INTO write_probe (written_at) VALUES (0);
