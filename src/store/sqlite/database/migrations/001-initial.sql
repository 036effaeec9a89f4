-- Moments are epoch milliseconds, JSON is text. Ids of ours sort by time, so that rows are appended.

-- A removed one stays without its secrets: the ledger names it, and its path is never given again.
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

CREATE TABLE endpoint_secret (
  endpoint_id TEXT NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
  position    INTEGER NOT NULL,
  sealed      BLOB NOT NULL,
  active_from INTEGER NOT NULL,
  until       INTEGER,
  last_used_at INTEGER,
  PRIMARY KEY (endpoint_id, position)
) STRICT, WITHOUT ROWID;

-- One row that rises with each change of an endpoint: reading it tells whether what is kept in memory still holds.
CREATE TABLE endpoint_version (version INTEGER NOT NULL) STRICT;
INSERT INTO endpoint_version (version) VALUES (0);

-- Keys are sealed under the account's name.
CREATE TABLE account (
  name         TEXT PRIMARY KEY,
  base_url     TEXT NOT NULL,
  api_key      BLOB NOT NULL,
  fallback_key BLOB,
  plan         TEXT NOT NULL,
  storages     TEXT NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every account that an endpoint has ever named: an event is found by its account and its id.
CREATE TABLE event_account (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

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
-- An event's first delivery came at the event's own moment and is found by its id; so accepting one costs no index.
CREATE INDEX delivery_repeat ON delivery (event_seq) WHERE verdict IN ('duplicate', 'conflict');

-- Of each verdict the oldest refusals make room; what brought an event is not among them and in none of these pages.
CREATE INDEX delivery_refused ON delivery (verdict, id) WHERE event_id IS NULL;

-- `listed`: rows of refusals; `dropped`: refusals that left no row, or whose row made room.
CREATE TABLE refusal_tally (
  verdict     TEXT PRIMARY KEY,
  listed      INTEGER NOT NULL DEFAULT 0,
  dropped     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Unverified deliveries of endpoints that learn, sealed; `bytes` is what counts against their limit.
CREATE TABLE capture (
  id          TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
  received_at INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  sealed      BLOB NOT NULL
) STRICT;
CREATE INDEX capture_endpoint ON capture (endpoint_id, id);

-- One row, written to see whether writing works.
CREATE TABLE write_probe (written_at INTEGER NOT NULL) STRICT;
INSERT INTO write_probe (written_at) VALUES (0);

-- `identity` is 16 bytes of a hash over account and id. The index begins with the stretch, 512 rows each, so that the new
-- events of a commit share a few pages: random keys over the whole table would cost each event a cold page of its own.
-- `body` is empty once it is pruned; `body_hash` is left of it then, and null before.
CREATE TABLE event (
  seq         INTEGER PRIMARY KEY,
  stretch     INTEGER NOT NULL,
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
CREATE UNIQUE INDEX event_identity ON event (stretch, identity);

-- The filter of each finished era, 65,536 rows: it tells events that are surely not among them without reading them.
CREATE TABLE event_era (
  number      INTEGER PRIMARY KEY,
  filter      BLOB NOT NULL
) STRICT;

-- `account` and `input` are those of a run that another one invoked. `since_seq` is the newest event when the run was made, where that
-- is not its own `event_seq`. `awaits`: it waits, and an event or another run wakes it.
CREATE TABLE run (
  id          TEXT PRIMARY KEY,
  workflow    TEXT NOT NULL,
  status      TEXT NOT NULL,
  reason      TEXT,
  event_seq   INTEGER,
  tick_at     INTEGER,
  input       TEXT,
  account     TEXT,
  parent_run  TEXT,
  parent_step TEXT,
  code_hash   TEXT,
  since_seq   INTEGER,
  awaits      INTEGER NOT NULL DEFAULT 0,
  priority    INTEGER NOT NULL DEFAULT 0,
  due_at      INTEGER,
  fence       INTEGER NOT NULL DEFAULT 0,
  worker      TEXT,
  attempt     INTEGER NOT NULL DEFAULT 0,
  crashes     INTEGER NOT NULL DEFAULT 0,
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER,
  output      TEXT,
  apart_bytes INTEGER,
  error       TEXT,
  -- What made it, and the run that it goes back to: `event`, `tick`, `manual`, `replay`, `fork`, `failure`.
  origin      TEXT NOT NULL DEFAULT 'event',
  origin_run  TEXT,
  -- Which function of the module it executes: `run`, or `onFailure` with what the origin run failed with.
  handler     TEXT NOT NULL DEFAULT 'run',
  failure     TEXT,
  -- All null in a run whose workflow limits nothing. `gates`: JSON, what it has to pass. `turn`: 'waits' in line, 'in': let
  -- in, 'out': neither. `folded`: runs that it has absorbed itself. `folded_into`: the run that absorbed this one.
  gates       TEXT,
  turn        TEXT,
  folded      INTEGER,
  folded_into TEXT
) STRICT, WITHOUT ROWID;
-- All partial: a finished run costs the queue nothing.
CREATE INDEX run_ready   ON run (priority DESC, id) WHERE status = 'pending';
CREATE INDEX run_waiting ON run (due_at)            WHERE status = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX run_held    ON run (worker)            WHERE status = 'running';
CREATE INDEX run_caused  ON run (event_seq)         WHERE event_seq IS NOT NULL;
CREATE INDEX run_invoked ON run (parent_run)        WHERE parent_run IS NOT NULL;
CREATE INDEX run_origin  ON run (origin_run)        WHERE origin_run IS NOT NULL;
CREATE INDEX run_paused  ON run (workflow, id)      WHERE status = 'waiting' AND reason = 'the workflow is paused';
-- Ticks of a workflow that are not finished: what a new tick has to wait for.
CREATE INDEX run_ticking ON run (workflow, tick_at)
  WHERE tick_at IS NOT NULL AND handler = 'run' AND status IN ('pending', 'running', 'waiting');

-- The tick that waits for the one before it goes on in the commit that ends that one, whoever ends it.
CREATE TRIGGER tick_released AFTER UPDATE OF status ON run
WHEN OLD.tick_at IS NOT NULL AND OLD.handler = 'run' AND OLD.status IN ('pending', 'running', 'waiting')
  AND NEW.status NOT IN ('pending', 'running', 'waiting')
BEGIN
  UPDATE run SET status = 'pending', reason = NULL WHERE id = (
    SELECT id FROM run WHERE workflow = OLD.workflow AND tick_at IS NOT NULL AND handler = 'run' AND status IN ('pending', 'running', 'waiting')
      AND status = 'waiting' AND reason = 'the tick before it is not finished' ORDER BY tick_at LIMIT 1
  ) AND NOT EXISTS (
    SELECT 1 FROM run WHERE workflow = OLD.workflow AND tick_at IS NOT NULL AND handler = 'run' AND status IN ('pending', 'running', 'waiting')
      AND reason IS NOT 'the tick before it is not finished'
  );
END;

-- Steps of a run that is gone already, too many to go with it in one commit.
CREATE TABLE pruned_run (
  run_id      TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- How far pruning has come where what it has done stays in its table.
CREATE TABLE prune_mark (
  kind        TEXT PRIMARY KEY,
  position    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the process that loads the authors' modules found in them, for those that do not: receiver, scheduler, command line.
CREATE TABLE workflow (
  id          TEXT PRIMARY KEY,
  file        TEXT NOT NULL,
  schedule    TEXT,
  -- Of new runs, until they have been looked at.
  priority    INTEGER NOT NULL,
  loaded_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE route (
  workflow    TEXT NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
  event_type  TEXT NOT NULL,
  PRIMARY KEY (workflow, event_type)
) STRICT, WITHOUT ROWID;

-- One row that rises with each change of a workflow; 0: nobody has loaded any yet.
CREATE TABLE workflow_version (version INTEGER NOT NULL) STRICT;
INSERT INTO workflow_version (version) VALUES (0);

CREATE TABLE workflow_pause (
  workflow    TEXT PRIMARY KEY,
  paused_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX run_folded  ON run (folded_into)       WHERE folded_into IS NOT NULL;

-- How many runs a gate lets in, as the workflow's code said last. `per_ms`: within this time; null: at the same time.
CREATE TABLE gate_rule (
  workflow    TEXT NOT NULL,
  gate        TEXT NOT NULL,
  most        INTEGER NOT NULL,
  per_ms      INTEGER,
  PRIMARY KEY (workflow, gate)
) STRICT, WITHOUT ROWID;

-- A run in line at a gate, or one that was let in. `rank` is the priority with its sign turned; `lasts`: kept while the run sleeps.
CREATE TABLE place (
  workflow    TEXT NOT NULL,
  gate        TEXT NOT NULL,
  key         TEXT NOT NULL,
  is_held     INTEGER NOT NULL,
  rank        INTEGER NOT NULL,
  run_id      TEXT NOT NULL,
  lasts       INTEGER NOT NULL,
  wake_at     INTEGER,
  PRIMARY KEY (workflow, gate, key, is_held, rank, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX place_run ON place (run_id);

-- The starts that a throttle still counts, each until the throttle's time has passed since.
CREATE TABLE throttle_start (
  workflow    TEXT NOT NULL,
  key         TEXT NOT NULL,
  until       INTEGER NOT NULL,
  run_id      TEXT NOT NULL,
  PRIMARY KEY (workflow, key, until, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX throttle_over ON throttle_start (until);

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

-- Gates that somebody has left in this transaction; before its commit whoever is next in line is let in.
CREATE TABLE left_gate (
  workflow    TEXT NOT NULL,
  gate        TEXT NOT NULL,
  key         TEXT NOT NULL,
  PRIMARY KEY (workflow, gate, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER place_left AFTER DELETE ON place
BEGIN
  INSERT INTO left_gate (workflow, gate, key) VALUES (OLD.workflow, OLD.gate, OLD.key) ON CONFLICT DO NOTHING;
END;

-- However a run stops being at work, and whoever writes that, its places are free in the same commit.
CREATE TRIGGER run_gives_up_its_turn AFTER UPDATE OF status ON run
WHEN OLD.turn IS NOT NULL AND NEW.status NOT IN ('pending', 'running')
  AND NOT (NEW.status = 'waiting' AND NEW.turn = 'waits')
BEGIN
  UPDATE run SET turn = 'out' WHERE id = NEW.id;
  DELETE FROM gathering WHERE run_id = NEW.id;
  DELETE FROM place WHERE run_id = NEW.id AND (lasts = 0 OR NEW.status <> 'waiting');
END;

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
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

-- Answers whether a deletion that the service tells of was ours.
CREATE INDEX step_delete ON step (target) WHERE effect = 'delete' AND target IS NOT NULL;

CREATE TABLE step_failure (
  run_id      TEXT NOT NULL,
  key         TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  failed_at   INTEGER NOT NULL,
  error       TEXT NOT NULL
) STRICT;
CREATE INDEX step_failure_run ON step_failure (run_id);

-- Results that are too large for their row, compressed. The key of a run's own output is empty.
CREATE TABLE blob (
  run_id      TEXT NOT NULL,
  key         TEXT NOT NULL,
  packed      BLOB NOT NULL,
  PRIMARY KEY (run_id, key)
) STRICT;

-- What a run waits for: a step for an event, the run for an event that cancels it, a step for another run (`child_run`; no type).
-- It is deleted when the step is finished, or the run. `resolved`: it has come.
CREATE TABLE wait (
  run_id      TEXT NOT NULL,
  key         TEXT NOT NULL,
  is_cancel   INTEGER NOT NULL DEFAULT 0,
  account     TEXT,
  type        TEXT,
  name        TEXT,
  value       TEXT,
  since_seq   INTEGER,
  child_run   TEXT,
  event_seq   INTEGER,
  resolved    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX wait_open  ON wait (type, name, account, value, since_seq) WHERE resolved = 0 AND type IS NOT NULL;
CREATE INDEX wait_child ON wait (child_run)                             WHERE child_run IS NOT NULL;

-- Keys of events, computed by the engine while somebody waits for them. `event_key` holds those of the events after `floor_seq` and
-- up to `cursor_seq`; a wait for older events sets both back.
CREATE TABLE watch (
  id          INTEGER PRIMARY KEY,
  type        TEXT NOT NULL,
  name        TEXT NOT NULL,
  version     TEXT NOT NULL,
  floor_seq   INTEGER NOT NULL,
  cursor_seq  INTEGER NOT NULL,
  used_at     INTEGER NOT NULL,
  UNIQUE (type, name, version)
) STRICT;
CREATE TABLE event_key (
  watch       INTEGER NOT NULL,
  account     TEXT NOT NULL,
  value       TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  PRIMARY KEY (watch, account, value, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_key_age ON event_key (watch, seq);

CREATE TABLE schedule (
  workflow    TEXT PRIMARY KEY,
  expression  TEXT NOT NULL,
  started_at  INTEGER NOT NULL,
  -- The latest moment that is done with, run or not.
  settled_at  INTEGER NOT NULL DEFAULT 0,
  paused_at   INTEGER,
  -- Moments without a run of their own: missed while nobody looked, skipped because the tick before was at work, or paused.
  missed      INTEGER NOT NULL DEFAULT 0,
  skipped     INTEGER NOT NULL DEFAULT 0,
  suppressed  INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE tick (
  workflow      TEXT NOT NULL,
  scheduled_for INTEGER NOT NULL,
  recorded_at   INTEGER NOT NULL,
  missed        INTEGER NOT NULL,
  run_id        TEXT NOT NULL,
  is_manual     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workflow, scheduled_for)
) STRICT, WITHOUT ROWID;

-- What the processes that use one API key have agreed on. `key` is a hash of it; `version` rises with each change.
CREATE TABLE files_limit (
  key         TEXT PRIMARY KEY,
  version     INTEGER NOT NULL,
  state       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE worker (
  id          TEXT PRIMARY KEY,
  lock_file   TEXT,
  started_at  INTEGER NOT NULL,
  seen_at     INTEGER NOT NULL
) STRICT;
