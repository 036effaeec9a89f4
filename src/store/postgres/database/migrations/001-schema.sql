-- Times are epoch milliseconds. JSON is text. Our ids sort by time, in the order of their bytes.
-- Names are those of the SQLite store where a table is the same.
--
-- A table that retention empties has partitions: `_old`, and one for each week, so that a week goes
-- at once. See 004-weeks.sql.

-- Events ------------------------------------------------------------------------------------------

-- The counter row of each stream of events. A transaction that numbers an event holds it to its
-- commit, so numbers rise in the order of commits. Stream s numbers s, s + 8, s + 16 …: a number
-- names one event.
CREATE TABLE stream (
  id          integer PRIMARY KEY,
  seq         bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO stream (id, seq) SELECT id, id FROM generate_series(0, 7) AS id;

-- The stream of an account's events.
CREATE FUNCTION stream_of(account text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN get_byte(sha256(convert_to(account, 'UTF8')), 0) & 7;

-- Which events are stored, for ever: 16 bytes of a hash over account and id, and of the body's hash.
CREATE TABLE event_identity (
  identity    uuid PRIMARY KEY,
  seq         bigint NOT NULL,
  body_hash   uuid NOT NULL
);

CREATE TABLE event (
  stream      integer NOT NULL,
  seq         bigint NOT NULL,
  id          text COLLATE "C" NOT NULL,
  account     text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  origin      text COLLATE "C" NOT NULL,
  created_at  bigint NOT NULL,
  received_at bigint NOT NULL,
  PRIMARY KEY (stream, seq)
);
CREATE INDEX event_received ON event (received_at, seq);

-- Every account that an endpoint ever named, or that has events of our own. An event is looked up by
-- account and id.
CREATE TABLE event_account (name text COLLATE "C" PRIMARY KEY);

-- The signed bodies, until retention deletes them.
CREATE TABLE event_body (
  received_at bigint NOT NULL,
  seq         bigint NOT NULL,
  body        text COLLATE "C" NOT NULL,
  PRIMARY KEY (received_at, seq)
) PARTITION BY RANGE (received_at);
CREATE TABLE event_body_old PARTITION OF event_body FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

-- An event with its body, which is empty once pruned.
CREATE VIEW full_event AS
  SELECT event.stream, event.seq, event.id, event.account, event.type, event.origin, event.created_at,
    event.received_at, coalesce(event_body.body, '') AS body
  FROM event LEFT JOIN event_body ON event_body.received_at = event.received_at AND event_body.seq = event.seq;

-- Incoming ----------------------------------------------------------------------------------------

-- An address that receives deliveries. A removed endpoint keeps its row: the ledger refers to it,
-- and its path is never reused.
CREATE TABLE endpoint (
  id          text COLLATE "C" PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  path        text COLLATE "C" NOT NULL UNIQUE,
  account     text COLLATE "C" NOT NULL,
  events      text COLLATE "C" NOT NULL,
  scheme      text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  created_at  bigint NOT NULL,
  revision    bigint NOT NULL DEFAULT 0,
  removed_at  bigint
);
CREATE UNIQUE INDEX endpoint_name ON endpoint (name) WHERE removed_at IS NULL;

-- The sealed secrets of an endpoint; the row of one goes when the endpoint is removed.
CREATE TABLE endpoint_secret (
  endpoint_id text COLLATE "C" NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
  position    bigint NOT NULL,
  sealed      bytea NOT NULL,
  active_from bigint NOT NULL,
  until       bigint,
  last_used_at bigint,
  PRIMARY KEY (endpoint_id, position)
);

-- One row. The version rises with each change of an endpoint and invalidates what processes cache.
CREATE TABLE endpoint_version (version bigint NOT NULL);
INSERT INTO endpoint_version (version) VALUES (0);

-- An account of the service. Its keys are sealed under its name.
CREATE TABLE account (
  name         text COLLATE "C" PRIMARY KEY,
  base_url     text COLLATE "C" NOT NULL,
  api_key      bytea NOT NULL,
  fallback_key bytea,
  plan         text COLLATE "C" NOT NULL,
  storages     text COLLATE "C" NOT NULL,
  created_at   bigint NOT NULL
);

-- The ledger: one row per request that reached an endpoint. A refused one has no event.
CREATE TABLE delivery (
  id          text COLLATE "C" PRIMARY KEY,
  endpoint_id text COLLATE "C",
  received_at bigint NOT NULL,
  verdict     text COLLATE "C" NOT NULL,
  event_id    text COLLATE "C",
  event_seq   bigint,
  body_bytes  bigint,
  facts       text COLLATE "C" NOT NULL
) PARTITION BY RANGE (id);
CREATE TABLE delivery_old PARTITION OF delivery FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE INDEX delivery_repeat ON delivery (event_seq) WHERE verdict IN ('duplicate', 'conflict');
-- The oldest refusals of a verdict, which make room for newer ones.
CREATE INDEX delivery_refused ON delivery (verdict, id) WHERE event_id IS NULL;
CREATE INDEX delivery_conflict ON delivery (id) WHERE verdict = 'conflict';

-- Refusals by verdict. `listed`: rows in the ledger; `dropped`: refusals without a row, or whose
-- row made room.
CREATE TABLE refusal_tally (
  verdict     text COLLATE "C" PRIMARY KEY,
  listed      bigint NOT NULL DEFAULT 0,
  dropped     bigint NOT NULL DEFAULT 0
);

-- Accepted events that no workflow starts on, by type.
CREATE TABLE unmatched_tally (
  type        text COLLATE "C" PRIMARY KEY,
  events      bigint NOT NULL,
  last_at     bigint NOT NULL
);

-- Unverified deliveries of learning endpoints, sealed. `bytes` counts against the endpoint's limit.
CREATE TABLE capture (
  id          text COLLATE "C" PRIMARY KEY,
  endpoint_id text COLLATE "C" NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
  received_at bigint NOT NULL,
  bytes       bigint NOT NULL,
  sealed      bytea NOT NULL
);
CREATE INDEX capture_endpoint ON capture (endpoint_id, id);



-- Workflows ---------------------------------------------------------------------------------------

-- The authors' workflows, written by the process that loads their modules. Receiver, scheduler and
-- command line read them here.
CREATE TABLE workflow (
  id          text COLLATE "C" PRIMARY KEY,
  file        text COLLATE "C" NOT NULL,
  -- Of a callable one: the JSON Schema of its input.
  input       text COLLATE "C",
  -- The priority of a new run until its admission.
  priority    bigint NOT NULL,
  -- `timeout.run` in milliseconds.
  run_timeout bigint,
  loaded_at   bigint NOT NULL
);

-- An event type that starts a workflow.
CREATE TABLE route (
  workflow    text COLLATE "C" NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
  event_type  text COLLATE "C" NOT NULL,
  PRIMARY KEY (workflow, event_type)
);

-- One row. The version rises with each change of a workflow; 0 until modules are first loaded.
CREATE TABLE workflow_version (version bigint NOT NULL);
INSERT INTO workflow_version (version) VALUES (0);

-- The workflows that each worker has loaded. A row counts only while its worker lives.
CREATE TABLE worker_workflow (
  worker      text COLLATE "C" NOT NULL,
  workflow    text COLLATE "C" NOT NULL,
  PRIMARY KEY (worker, workflow)
);

-- Workflows that a person paused.
CREATE TABLE workflow_pause (
  workflow    text COLLATE "C" PRIMARY KEY,
  paused_at   bigint NOT NULL
);

-- What starts runs by the clock: the cron line of a module, whose name this is, and what people and
-- code add. `input`: what a callable workflow gets; where `workflow` is null, the event to send.
CREATE TABLE schedule (
  id          text COLLATE "C" PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  -- `module`, `person` or `code`; and the file, the person or the run that made it.
  owner       text COLLATE "C" NOT NULL,
  made_by     text COLLATE "C" NOT NULL,
  workflow    text COLLATE "C",
  -- When, and the rules for moments that were missed, as JSON.
  plan        text COLLATE "C" NOT NULL,
  input       text COLLATE "C",
  -- Links of the chain of runs that made it, one soon after the other.
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

-- A due moment of a schedule, recorded once.
CREATE TABLE tick (
  schedule      text COLLATE "C" NOT NULL,
  scheduled_for bigint NOT NULL,
  recorded_at   bigint NOT NULL,
  missed        bigint NOT NULL,
  run_id        text COLLATE "C" NOT NULL,
  is_manual     bigint NOT NULL DEFAULT 0,
  account       text COLLATE "C" NOT NULL,
  PRIMARY KEY (schedule, scheduled_for, account)
);

-- Runs --------------------------------------------------------------------------------------------

-- The facts of a run, which never change. Its cause is an event (`event_seq`), a tick (`tick_at` of
-- `schedule`), or -- another run (`parent_run`, with `input` and `account`).
CREATE TABLE run (
  id          text COLLATE "C" PRIMARY KEY,
  workflow    text COLLATE "C" NOT NULL,
  event_seq   bigint,
  tick_at     bigint,
  schedule    text COLLATE "C",
  input       text COLLATE "C",
  account     text COLLATE "C",
  parent_run  text COLLATE "C",
  parent_step text COLLATE "C",
  depth       bigint NOT NULL DEFAULT 0,
  -- Of an invoked run: 1 where it goes on although that one fails or is canceled, and the moment at
  -- which the step that waits for it gives up.
  outlives    bigint NOT NULL DEFAULT 0,
  ends_by     bigint,
  -- The newest event of its stream when it was made; null where that is `event_seq`.
  since_seq   bigint,
  created_at  bigint NOT NULL,
  origin      text COLLATE "C" NOT NULL DEFAULT 'event',
  origin_run  text COLLATE "C",
  handler     text COLLATE "C" NOT NULL DEFAULT 'run',
  failure     text COLLATE "C",
  -- Of a run that goes on in another's place: the newest event when the first run of the chain was
  -- made, and the events that were taken, as JSON by stream.
  chain_seq   bigint,
  received    text COLLATE "C"
) PARTITION BY RANGE (id);
CREATE TABLE run_old PARTITION OF run FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE INDEX run_caused  ON run (event_seq)  WHERE event_seq IS NOT NULL;
CREATE INDEX run_invoked ON run (parent_run, id) WHERE parent_run IS NOT NULL;
CREATE INDEX run_origin  ON run (origin_run) WHERE origin_run IS NOT NULL;

-- An unfinished run: the queue. Only this table is updated much, so it is kept small and clean.
CREATE TABLE work (
  run_id      text COLLATE "C" PRIMARY KEY,
  workflow    text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  reason      text COLLATE "C",
  -- The negated priority.
  rank        bigint NOT NULL DEFAULT 0,
  due_at      bigint,
  fence       bigint NOT NULL DEFAULT 0,
  worker      text COLLATE "C",
  -- The number of the call that claimed, admitted or parked it last, by which a lost answer is found again.
  claim       bigint,
  attempt     bigint NOT NULL DEFAULT 0,
  crashes     bigint NOT NULL DEFAULT 0,
  suspicion   bigint NOT NULL DEFAULT 0,
  awaits      bigint NOT NULL DEFAULT 0,
  started_at  bigint,
  code_hash   text COLLATE "C",
  error       text COLLATE "C",
  gates       text COLLATE "C",
  gate_state  text COLLATE "C",
  folded      bigint,
  -- Set for the run of a tick that is no handler of a failure.
  tick_at     bigint,
  tick_schedule text COLLATE "C",
  tick_account text COLLATE "C",
  -- The queue's order is (turn, run_id). Within a priority, those come first for which others stand in
  -- line: runs with a place, and those of ticks.
  turn        bigint NOT NULL GENERATED ALWAYS AS
    (2 * rank - (coalesce(gate_state = 'admitted', false) OR tick_at IS NOT NULL)::integer) STORED
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
CREATE INDEX work_ready   ON work (turn, run_id) WHERE status = 'pending' AND suspicion < 2;
CREATE INDEX work_suspect ON work (turn, run_id) WHERE status = 'pending' AND suspicion >= 2;
CREATE INDEX work_waiting ON work (due_at)       WHERE status = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX work_untimed ON work (run_id)       WHERE status = 'waiting' AND due_at IS NULL;
CREATE INDEX work_leased  ON work (worker, claim) WHERE status = 'running';
CREATE INDEX work_paused  ON work (workflow, run_id)
  WHERE status = 'waiting' AND reason = 'the workflow is paused';
CREATE INDEX work_ticking ON work (tick_schedule, tick_account, tick_at) WHERE tick_at IS NOT NULL;

-- The end of a run. The row goes when a person retries it.
CREATE TABLE outcome (
  run_id      text COLLATE "C" PRIMARY KEY,
  workflow    text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  reason      text COLLATE "C",
  rank        bigint NOT NULL,
  fence       bigint NOT NULL,
  attempt     bigint NOT NULL,
  started_at  bigint,
  finished_at bigint NOT NULL,
  code_hash   text COLLATE "C",
  output      text COLLATE "C",
  -- Size of an output that is in `large_output`.
  apart_bytes bigint,
  error       text COLLATE "C",
  -- The kind of its failure.
  failure_group text COLLATE "C",
  -- A person's word that its failure needs nobody any more, as JSON { by, at, reason }.
  resolution  text COLLATE "C",
  -- 1 where a rule of its workflow canceled it, so that a retry would be canceled again.
  by_rule     bigint NOT NULL DEFAULT 0,
  gates       text COLLATE "C",
  gate_state  text COLLATE "C",
  folded      bigint,
  folded_into text COLLATE "C",
  -- The run that goes on in its place.
  continued_by text COLLATE "C"
) PARTITION BY RANGE (run_id);
CREATE TABLE outcome_old PARTITION OF outcome FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE INDEX outcome_ended_badly ON outcome (status, run_id) WHERE status IN ('failed', 'canceled');
CREATE INDEX outcome_failed ON outcome (workflow, run_id) WHERE status = 'failed';
CREATE INDEX outcome_failed_end ON outcome (finished_at, run_id) WHERE status = 'failed';
CREATE INDEX outcome_failure_kind ON outcome (failure_group, finished_at)
  WHERE status = 'failed' AND resolution IS NULL;
CREATE INDEX outcome_resolved ON outcome (run_id) WHERE resolution IS NOT NULL;
CREATE INDEX outcome_folded ON outcome (folded_into) WHERE folded_into IS NOT NULL;
-- Ends of the last minutes in an old week.
CREATE INDEX outcome_finished ON outcome USING brin (finished_at) WITH (pages_per_range = 32);

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
  run_id      text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  position    bigint NOT NULL,
  kind        text COLLATE "C" NOT NULL,
  effect      text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  attempt     bigint NOT NULL,
  output      text COLLATE "C",
  apart_bytes bigint,
  error       text COLLATE "C",
  target      text COLLATE "C",
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
  PRIMARY KEY (run_id, key)
) PARTITION BY RANGE (run_id);
CREATE TABLE step_old PARTITION OF step FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
-- Tells whether a deletion that the service reports was ours.
CREATE INDEX step_delete ON step (target) WHERE effect = 'delete' AND target IS NOT NULL;
-- The runs that have a hook, whose id is the target: the one that opened it, and its forks.
CREATE INDEX step_hook ON step (target) WHERE kind = 'hook';

-- Every failed attempt of a step.
CREATE TABLE step_failure (
  number      bigint GENERATED ALWAYS AS IDENTITY,
  run_id      text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  attempt     bigint NOT NULL,
  failed_at   bigint NOT NULL,
  error       text COLLATE "C" NOT NULL
) PARTITION BY RANGE (run_id);
CREATE TABLE step_failure_old PARTITION OF step_failure FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE INDEX step_failure_run ON step_failure (run_id);

-- Log lines of runs, the newest 500 of each. A run that logs nothing has none.
CREATE TABLE run_log (
  run_id      text COLLATE "C" NOT NULL,
  number      bigint NOT NULL,
  at          bigint NOT NULL,
  level       text COLLATE "C" NOT NULL,
  message     text COLLATE "C" NOT NULL,
  facts       text COLLATE "C",
  PRIMARY KEY (run_id, number)
) PARTITION BY RANGE (run_id);
CREATE TABLE run_log_old PARTITION OF run_log FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

-- The tags of runs, at most ten of each. A run without tags has no row.
CREATE TABLE run_tag (
  run_id      text COLLATE "C" NOT NULL,
  name        text COLLATE "C" NOT NULL,
  value       text COLLATE "C" NOT NULL,
  PRIMARY KEY (run_id, name)
) PARTITION BY RANGE (run_id);
CREATE TABLE run_tag_old PARTITION OF run_tag FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE INDEX run_tag_value ON run_tag (name, value, run_id);

-- How far runs have come, by their own word. A run that says nothing has no row.
CREATE TABLE run_progress (
  run_id      text COLLATE "C" PRIMARY KEY,
  done        double precision NOT NULL,
  total       double precision NOT NULL,
  failed      double precision NOT NULL,
  note        text COLLATE "C",
  -- Parts per second.
  rate        double precision,
  told_at     bigint NOT NULL
) PARTITION BY RANGE (run_id);
CREATE TABLE run_progress_old PARTITION OF run_progress FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

-- Outputs too large for their row, compressed. The key of a run's own output is empty.
CREATE TABLE large_output (
  run_id      text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  packed      bytea NOT NULL,
  PRIMARY KEY (run_id, key)
) PARTITION BY RANGE (run_id);
CREATE TABLE large_output_old PARTITION OF large_output FOR VALUES FROM (MINVALUE) TO (MAXVALUE);


-- Waits -------------------------------------------------------------------------------------------




-- A process that executes runs, and when it last said that it is alive.
CREATE TABLE worker (
  id          text COLLATE "C" PRIMARY KEY,
  started_at  bigint NOT NULL,
  seen_at     bigint NOT NULL
);

-- Waits -------------------------------------------------------------------------------------------

-- An event (`type` …), another run (`child_run`), an approval or the end of a stop that a step waits
-- for, or an event that cancels the run. The row goes when the step or the run ends.
CREATE TABLE wait (
  run_id      text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  is_cancel   bigint NOT NULL DEFAULT 0,
  account     text COLLATE "C",
  stream      integer,
  type        text COLLATE "C",
  name        text COLLATE "C",
  value       text COLLATE "C",
  since_seq   bigint,
  child_run   text COLLATE "C",
  -- An approval, or `stop` for the end of one.
  approval    text COLLATE "C",
  -- For an approval: the run's fence, and for what is asked again the round in which the wait began.
  fence       bigint,
  round       bigint,
  -- A hook whose answer it is for.
  hook        text COLLATE "C",
  event_seq   bigint,
  -- 1 once the event came or the other run ended.
  is_resolved bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, key)
);
CREATE INDEX wait_hook ON wait (hook) WHERE hook IS NOT NULL AND is_resolved = 0;
CREATE INDEX wait_open  ON wait (type, name, stream, account, value, since_seq)
  WHERE is_resolved = 0 AND type IS NOT NULL;
CREATE INDEX wait_child ON wait (child_run) WHERE child_run IS NOT NULL;
CREATE INDEX wait_approval ON wait (approval, run_id) WHERE approval IS NOT NULL;

-- Rounds in which held effects ask again: those of the guard (`guard`), and those of a stop (`stop`).
-- A wait of an earlier round is over. The place tells how far runs are woken; null: all are.
CREATE TABLE asking_again (
  what           text COLLATE "C" PRIMARY KEY,
  round          bigint NOT NULL,
  after_approval text COLLATE "C",
  after_run      text COLLATE "C"
);

-- How far events of a stream are matched for one key of a type, by one version of the author's
-- functions. `event_key` holds the keys of events after `floor_seq` up to `position_seq`.
CREATE TABLE match_cursor (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream       integer NOT NULL,
  type         text COLLATE "C" NOT NULL,
  name         text COLLATE "C" NOT NULL,
  version      text COLLATE "C" NOT NULL,
  floor_seq    bigint NOT NULL,
  position_seq bigint NOT NULL,
  used_at      bigint NOT NULL,
  UNIQUE (type, name, version, stream)
);

-- A key of an event, computed for a cursor.
CREATE TABLE event_key (
  cursor_id   bigint NOT NULL,
  account     text COLLATE "C" NOT NULL,
  value       text COLLATE "C" NOT NULL,
  seq         bigint NOT NULL,
  PRIMARY KEY (cursor_id, account, value, seq)
);
CREATE INDEX event_key_age ON event_key (cursor_id, seq);

-- Hooks -------------------------------------------------------------------------------------------

-- A callback URL at which a run waits, opened by a step. `data`: JSON Schema of an answer. `sealed`:
-- the secret of a sender who signs. Nothing here is a part of the URL that grants anything.
CREATE TABLE hook (
  id          text COLLATE "C" PRIMARY KEY,
  run_id      text COLLATE "C" NOT NULL,
  step        text COLLATE "C" NOT NULL,
  account     text COLLATE "C" NOT NULL,
  ask         text COLLATE "C",
  data        text COLLATE "C",
  is_many     bigint NOT NULL,
  scheme      text COLLATE "C",
  sealed      bytea,
  opened_at   bigint NOT NULL,
  expires_at  bigint NOT NULL
);
CREATE INDEX hook_run ON hook (run_id);

-- An answer of a hook, which is an event. `sameness`: equal for repetitions of one answer.
CREATE TABLE hook_answer (
  hook        text COLLATE "C" NOT NULL,
  event_seq   bigint NOT NULL,
  sameness    text COLLATE "C" NOT NULL,
  PRIMARY KEY (hook, event_seq)
);
CREATE INDEX hook_answer_sameness ON hook_answer (hook, sameness);

-- One row: the sealed key that makes and checks the tokens of all hooks.
CREATE TABLE hook_key (number bigint PRIMARY KEY, sealed bytea NOT NULL);

-- Limits ------------------------------------------------------------------------------------------

-- How many runs a gate admits, as the workflow's code said last: within `per_ms`, or at the same
-- time where that is null.
CREATE TABLE gate_rule (
  workflow    text COLLATE "C" NOT NULL,
  gate        text COLLATE "C" NOT NULL,
  max_runs    bigint NOT NULL,
  per_ms      bigint,
  PRIMARY KEY (workflow, gate)
);

-- A run's place at a gate: in line, or held. `rank` is the negated priority. A place with
-- `survives_sleep` is kept while the run sleeps.
CREATE TABLE place (
  workflow       text COLLATE "C" NOT NULL,
  gate           text COLLATE "C" NOT NULL,
  key            text COLLATE "C" NOT NULL,
  is_held        bigint NOT NULL,
  rank           bigint NOT NULL,
  run_id         text COLLATE "C" NOT NULL,
  survives_sleep bigint NOT NULL,
  wake_at        bigint,
  PRIMARY KEY (workflow, gate, key, is_held, rank, run_id)
);
CREATE INDEX place_run ON place (run_id);

-- Starts that a throttle still counts, each until `until`.
CREATE TABLE throttle_start (
  workflow    text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  until       bigint NOT NULL,
  run_id      text COLLATE "C" NOT NULL,
  PRIMARY KEY (workflow, key, until, run_id)
);
CREATE INDEX throttle_start_until ON throttle_start (until);

-- The run that gathers the events of a key, for a batch or a debounce, until it is due.
CREATE TABLE gathering (
  workflow    text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  run_id      text COLLATE "C" NOT NULL,
  since       bigint NOT NULL,
  due_at      bigint NOT NULL,
  wake_at     bigint,
  PRIMARY KEY (workflow, key)
);
CREATE INDEX gathering_run ON gathering (run_id);


-- The state that processes with the same API key share. `key` is a hash of the API key; `version`
-- rises with each change.
CREATE TABLE key_limit (
  key         text COLLATE "C" PRIMARY KEY,
  version     bigint NOT NULL,
  state       text COLLATE "C" NOT NULL
);

-- Safety ------------------------------------------------------------------------------------------

-- An action of a person, appended in the commit of what it does and never changed.
CREATE TABLE audit (
  id          text COLLATE "C" PRIMARY KEY,
  at          bigint NOT NULL,
  actor       text COLLATE "C" NOT NULL,
  role        text COLLATE "C" NOT NULL,
  origin      text COLLATE "C" NOT NULL,
  action      text COLLATE "C" NOT NULL,
  target      text COLLATE "C",
  reason      text COLLATE "C",
  parameters  text COLLATE "C" NOT NULL,
  outcome     text COLLATE "C" NOT NULL,
  error       text COLLATE "C"
);
CREATE INDEX audit_target ON audit (target, id) WHERE target IS NOT NULL;

-- A person's verdict on a kind of failure. `failure_group`: the id that `groupFailure` gives it.
CREATE TABLE failure_state (
  failure_group text COLLATE "C" PRIMARY KEY,
  kind          text COLLATE "C" NOT NULL,
  note          text COLLATE "C",
  set_by        text COLLATE "C" NOT NULL,
  set_at        bigint NOT NULL,
  until         bigint
);

-- An operation on many runs. `plan` and `count`: JSON. `cursor` moves in the commit of a slice.
CREATE TABLE bulk (
  id          text COLLATE "C" PRIMARY KEY,
  plan        text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  count       text COLLATE "C" NOT NULL,
  cursor      text COLLATE "C",
  done        bigint NOT NULL DEFAULT 0,
  refused     bigint NOT NULL DEFAULT 0,
  -- The process that works on it, and when it last said so.
  owner       text COLLATE "C",
  seen_at     bigint,
  ended_at    bigint
);
CREATE INDEX bulk_open ON bulk (id) WHERE status IN ('counting', 'running');

-- A run or an event that an operation did not fit; the first thousand of each operation.
CREATE TABLE bulk_refusal (
  number      bigint GENERATED ALWAYS AS IDENTITY,
  bulk_id     text COLLATE "C" NOT NULL,
  target      text COLLATE "C" NOT NULL,
  why         text COLLATE "C" NOT NULL
);
CREATE INDEX bulk_refusal_of ON bulk_refusal (bulk_id);

-- First answers to requests with an Idempotency-Key, kept for 24 h. `request`: a hash. An answer
-- that is null has not been given yet.
CREATE TABLE kept_answer (
  caller      text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  request     text COLLATE "C" NOT NULL,
  answer      text COLLATE "C",
  at          bigint NOT NULL,
  PRIMARY KEY (caller, key)
);
CREATE INDEX kept_answer_age ON kept_answer (at);

-- Health ------------------------------------------------------------------------------------------

-- A running process; it writes its row every 10 s.
CREATE TABLE process (
  id           text COLLATE "C" PRIMARY KEY,
  role         text COLLATE "C" NOT NULL,
  pid          bigint NOT NULL,
  version      text COLLATE "C" NOT NULL,
  admin_url    text COLLATE "C" NOT NULL,
  receiver_url text COLLATE "C" NOT NULL,
  started_at   bigint NOT NULL,
  seen_at      bigint NOT NULL,
  -- JSON: the modules that it could not load.
  broken       text COLLATE "C" NOT NULL
);

-- Runs by the hour of their making, counted once the hour is over. Hours count from 1970.
CREATE TABLE run_hour (
  hour        bigint NOT NULL,
  workflow    text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  runs        bigint NOT NULL,
  p50_ms      bigint,
  p95_ms      bigint,
  PRIMARY KEY (hour, workflow, status)
);

-- Deliveries by hour; the endpoint is empty for requests that reached none.
CREATE TABLE delivery_hour (
  hour        bigint NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  verdict     text COLLATE "C" NOT NULL,
  deliveries  bigint NOT NULL,
  PRIMARY KEY (hour, endpoint_id, verdict)
);

-- One row: the newest hour that is counted.
CREATE TABLE hour_counted (one bigint PRIMARY KEY, hour bigint NOT NULL);

-- An hour of which a run ended, or began again, in a later hour.
CREATE TABLE run_hour_mark (hour bigint PRIMARY KEY, version bigint NOT NULL);

-- The memory of each alert rule, which all processes share; `book`: JSON.
CREATE TABLE alert_book (
  rule        text COLLATE "C" PRIMARY KEY,
  book        text COLLATE "C" NOT NULL,
  version     bigint NOT NULL
);

-- What the events of each type look like; one row, which all processes share. `book`: JSON.
CREATE TABLE shape_book (
  id          int PRIMARY KEY CHECK (id = 1),
  book        text COLLATE "C" NOT NULL,
  version     bigint NOT NULL
);

-- Sweeps -------------------------------------------------------------------------------------------

-- The sweeps of each storage. `state`: JSON; `version` rises with each change of it. `forgotten_to`:
-- when the last file was gone whose row was pruned.
CREATE TABLE sweep (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account     text COLLATE "C" NOT NULL,
  storage     text COLLATE "C" NOT NULL,
  state       text COLLATE "C" NOT NULL,
  version     bigint NOT NULL,
  forgotten_to bigint,
  UNIQUE (account, storage)
);

-- Each file that a sweep saw. There may be millions: only files that are gone have a second index.
-- `judged`: 1 for its arrival, 2 for its departure, 8 and 16 where an event told of one that is
-- pruned. `gone_at` 0: the listing does not have it any more.
CREATE TABLE known_file (
  sweep         bigint NOT NULL,
  file          text COLLATE "C" NOT NULL,
  path          text COLLATE "C" NOT NULL,
  size          bigint,
  created_at    bigint,
  modified_at   bigint,
  first_sweep   bigint NOT NULL,
  last_sweep    bigint NOT NULL,
  first_seen_at bigint NOT NULL,
  gone_at       bigint,
  judged        bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (sweep, file)
);
CREATE INDEX known_file_gone ON known_file (gone_at) WHERE gone_at IS NOT NULL;

-- The files that stored events tell of.
CREATE TABLE file_event (
  account     text COLLATE "C" NOT NULL,
  storage     text COLLATE "C" NOT NULL,
  file        text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  event       text COLLATE "C" NOT NULL,
  at          bigint NOT NULL,
  PRIMARY KEY (account, storage, file, type, event)
);

-- How far events are matched to files; one row, which all processes share. `book`: JSON.
CREATE TABLE file_book (
  id          int PRIMARY KEY CHECK (id = 1),
  book        text COLLATE "C" NOT NULL,
  version     bigint NOT NULL
);

-- Files of which an event should have told, and none did.
CREATE TABLE file_finding (
  account     text COLLATE "C" NOT NULL,
  storage     text COLLATE "C" NOT NULL,
  file        text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  state       text COLLATE "C" NOT NULL,
  sweep       bigint NOT NULL,
  found_at    bigint NOT NULL,
  path        text COLLATE "C" NOT NULL,
  entry       text COLLATE "C" NOT NULL,
  reason      text COLLATE "C",
  approval    text COLLATE "C",
  event       text COLLATE "C",
  late_event  text COLLATE "C",
  PRIMARY KEY (account, storage, file, type)
);
CREATE INDEX file_finding_state ON file_finding (state, found_at);
CREATE INDEX file_finding_found ON file_finding (found_at);

-- Access ------------------------------------------------------------------------------------------

-- Logins to the admin API. Secrets are stored as SHA-256 in hex.
CREATE TABLE admin_session (
  id          text COLLATE "C" PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  role        text COLLATE "C" NOT NULL,
  cookie_hash text COLLATE "C" NOT NULL UNIQUE,
  key_hash    text COLLATE "C" NOT NULL,
  address     text COLLATE "C" NOT NULL,
  created_at  bigint NOT NULL,
  seen_at     bigint NOT NULL
);

-- One-time codes of `upshot dashboard`; a row goes when its code is used or over.
CREATE TABLE login_code (
  hash        text COLLATE "C" PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  role        text COLLATE "C" NOT NULL,
  expires_at  bigint NOT NULL
);

-- Keys of scripts. A revoked token keeps its row, because the audit names it.
CREATE TABLE admin_token (
  id           text COLLATE "C" PRIMARY KEY,
  name         text COLLATE "C" NOT NULL,
  role         text COLLATE "C" NOT NULL,
  hash         text COLLATE "C" NOT NULL UNIQUE,
  created_at   bigint NOT NULL,
  expires_at   bigint,
  last_used_at bigint,
  revoked_at   bigint
);
CREATE UNIQUE INDEX admin_token_name ON admin_token (name) WHERE revoked_at IS NULL;

-- The effect ledger. `phase`: a delete has `begun` in the commit of its permit and `ended` in that of
-- its step (`of_seq`); a write has one row, `done`. Decisions and switches have rows, too.
CREATE TABLE effect (
  seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at          bigint NOT NULL,
  phase       text COLLATE "C" NOT NULL,
  of_seq      bigint,
  class       text COLLATE "C" NOT NULL,
  operation   text COLLATE "C" NOT NULL,
  account     text COLLATE "C",
  target      text COLLATE "C",
  path        text COLLATE "C",
  bytes       bigint,
  workflow    text COLLATE "C",
  run_id      text COLLATE "C",
  step        text COLLATE "C",
  event_seq   bigint,
  code        text COLLATE "C",
  approval    text COLLATE "C",
  actor       text COLLATE "C",
  asked       text COLLATE "C",
  -- JSON: the state without which a delete must not happen; with the row that begins it.
  expect      text COLLATE "C",
  -- JSON: the state that a delete's own look found; with the row that ends it.
  before      text COLLATE "C",
  outcome     text COLLATE "C",
  proof       text COLLATE "C",
  error       text COLLATE "C"
);
-- Each gives its rows in the order of their moments.
CREATE INDEX effect_at ON effect (at, seq);
CREATE INDEX effect_target ON effect (target, at, seq) WHERE target IS NOT NULL;
CREATE INDEX effect_path ON effect (path, at, seq) WHERE path IS NOT NULL;
CREATE INDEX effect_run ON effect (run_id, at, seq) WHERE run_id IS NOT NULL;
CREATE INDEX effect_workflow ON effect (workflow, at, seq) WHERE workflow IS NOT NULL;

-- Effects counted by scope and slot of time. `width`: of the slot in milliseconds, 0 for a run.
CREATE TABLE guard_use (
  scope       text COLLATE "C" NOT NULL,
  class       text COLLATE "C" NOT NULL,
  width       bigint NOT NULL,
  slot        bigint NOT NULL,
  count       bigint NOT NULL,
  bytes       bigint NOT NULL,
  PRIMARY KEY (scope, class, width, slot)
);

-- Places counted for a list of effects whose rows come in later commits, by the pass that asked.
CREATE TABLE guard_reserved (
  run_id      text COLLATE "C" NOT NULL,
  fence       bigint NOT NULL,
  list        bigint NOT NULL,
  class       text COLLATE "C" NOT NULL,
  -- Empty where the target is in none.
  storage     text COLLATE "C" NOT NULL,
  folder      text COLLATE "C" NOT NULL,
  workflow    text COLLATE "C" NOT NULL,
  account     text COLLATE "C" NOT NULL,
  at          bigint NOT NULL,
  count       bigint NOT NULL,
  bytes       bigint NOT NULL,
  PRIMARY KEY (run_id, fence, list, class, storage, folder)
);

-- Stops in force. No delete and no `once` step begins that one of them covers.
CREATE TABLE effect_stop (
  kind        text COLLATE "C" NOT NULL,
  name        text COLLATE "C" NOT NULL,
  since       bigint NOT NULL,
  actor       text COLLATE "C" NOT NULL,
  reason      text COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, name)
);

-- A list of effects (`guard`), or a question of a step, that people decide. `hold`: the limit or
-- step that it is for; each has one open approval at most.
CREATE TABLE approval (
  id          text COLLATE "C" PRIMARY KEY,
  kind        text COLLATE "C" NOT NULL,
  hold        text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  workflow    text COLLATE "C" NOT NULL,
  account     text COLLATE "C" NOT NULL,
  why         text COLLATE "C" NOT NULL,
  items       bigint NOT NULL,
  bytes       bigint NOT NULL,
  hash        text COLLATE "C" NOT NULL,
  needs       bigint NOT NULL,
  role        text COLLATE "C",
  question    text COLLATE "C",
  answer      text COLLATE "C",
  opened_at   bigint NOT NULL,
  expires_at  bigint NOT NULL,
  decided_at  bigint,
  -- JSON of the numbers that were approved, while items of a long list still have to be told.
  carrying    text COLLATE "C"
);
CREATE UNIQUE INDEX approval_open ON approval (hold) WHERE status = 'open';
CREATE INDEX approval_carrying ON approval (id) WHERE carrying IS NOT NULL;
CREATE INDEX approval_hold ON approval (hold, id) WHERE kind = 'question';

CREATE TABLE approval_item (
  approval    text COLLATE "C" NOT NULL,
  number      bigint NOT NULL,
  run_id      text COLLATE "C" NOT NULL,
  step        text COLLATE "C" NOT NULL,
  target      text COLLATE "C",
  asked       text COLLATE "C",
  bytes       bigint NOT NULL,
  hash        text COLLATE "C" NOT NULL,
  state       text COLLATE "C" NOT NULL,
  -- The run's fence when it asked.
  fence       bigint NOT NULL,
  PRIMARY KEY (approval, number)
);
-- The items of a step, of which one at most is neither withdrawn nor moved.
CREATE INDEX approval_item_step ON approval_item (run_id, step);
CREATE INDEX approval_item_open ON approval_item (approval, number) WHERE state = 'open';

-- Runs whose items and waits are taken back up to a fence, and how far that is done. Those items
-- count for nothing from the row's commit on.
CREATE TABLE withdrawal (
  run_id      text COLLATE "C" PRIMARY KEY,
  fence       bigint NOT NULL,
  at          bigint,
  after_step  text COLLATE "C" NOT NULL,
  after_key   text COLLATE "C" NOT NULL
);

-- Runs that have ended or begun anew, whose children are canceled up to a run by its id.
CREATE TABLE closing (
  run_id      text COLLATE "C" PRIMARY KEY,
  reason      text COLLATE "C" NOT NULL,
  after_run   text COLLATE "C" NOT NULL
);

CREATE TABLE approval_vote (
  approval    text COLLATE "C" NOT NULL,
  actor       text COLLATE "C" NOT NULL,
  verdict     text COLLATE "C" NOT NULL,
  reason      text COLLATE "C",
  hash        text COLLATE "C" NOT NULL,
  items       text COLLATE "C",
  answer      text COLLATE "C",
  at          bigint NOT NULL,
  signature   bytea,
  -- The ledger row of the same word.
  effect_seq  bigint NOT NULL,
  PRIMARY KEY (approval, actor)
);

-- People who may decide, removed ones included. From the first one on, every vote has to be signed.
-- `sealed`: key, roles and moments, under the number.
CREATE TABLE approver (
  number      bigint PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  sealed      bytea NOT NULL
);

-- The chain over the effect ledger: a seal covers the rows after the seal before, up to `last`. `mac`
-- also covers the seal before. `pruned_to`: rows up to this one may go.
CREATE TABLE effect_seal (
  number      bigint PRIMARY KEY,
  kind        text COLLATE "C" NOT NULL,
  at          bigint NOT NULL,
  key         bigint NOT NULL,
  last        bigint NOT NULL,
  rows        bigint NOT NULL,
  digest      bytea NOT NULL,
  pruned_to   bigint,
  note        text COLLATE "C",
  mac         bytea NOT NULL
);
CREATE INDEX effect_seal_pruned ON effect_seal (pruned_to) WHERE pruned_to IS NOT NULL;
CREATE INDEX effect_seal_last ON effect_seal (last) WHERE kind = 'rows';

-- The keys of the chain, each sealed like a secret.
CREATE TABLE effect_key (
  number      bigint PRIMARY KEY,
  sealed      bytea NOT NULL
);

-- Upkeep ------------------------------------------------------------------------------------------

-- Pruned runs whose steps are still there, because they were too many for one commit.
CREATE TABLE pruned_run (
  run_id      text COLLATE "C" PRIMARY KEY
);

-- One row, written to test whether the database can be written.
CREATE TABLE write_probe (written_at bigint NOT NULL);
INSERT INTO write_probe (written_at) VALUES (0);

-- The move of a database file into these tables. Until it is done, no process starts on them.
CREATE TABLE move (
  id          text COLLATE "C" PRIMARY KEY,
  at          bigint NOT NULL,
  is_done     bigint NOT NULL
);

-- Small tables whose rows change all the time: cleaned by number of changes, and without pauses.
DO $$ DECLARE hot text; BEGIN
  FOREACH hot IN ARRAY ARRAY['stream', 'worker', 'process', 'wait', 'match_cursor', 'place', 'throttle_start',
    'gathering', 'key_limit', 'guard_use', 'write_probe', 'run_hour_mark', 'unmatched_tally'] LOOP
    EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, '
      'autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off)', hot);
  END LOOP;
END $$;
