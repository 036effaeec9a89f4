-- What PostgreSQL has apart from SQLite. A weekly table has partitions: `_old`, and one for each week,
-- so that a week goes at once. See 004-weeks.postgres.sql.

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

-- The move of a database file into these tables. Until it is done, no process starts on them.
CREATE TABLE move (
  id          text COLLATE "C" PRIMARY KEY,
  at          bigint NOT NULL,
  is_done     bigint NOT NULL
);

-- The leases of a worker, and of one claim: those of runs at work, for no other has a worker. A predicate that
-- names the status would let a plan made over a short queue read all of them to find one by its id.
CREATE INDEX work_leased ON work (worker, claim) WHERE worker IS NOT NULL;

-- What keeps lists short however long the history is: the deliveries of one endpoint, newest first,
-- the ends of the last minutes in an old week, and the use of a window. The counts of runs, of which
-- there are many, have a width of 0.
CREATE INDEX delivery_endpoint ON delivery (endpoint_id, id);
CREATE INDEX outcome_finished ON outcome USING brin (finished_at) WITH (pages_per_range = 32);
CREATE INDEX guard_use_bucket ON guard_use (width, bucket) WHERE width > 0;

-- The queue changes most of all, so it is kept small and clean.
ALTER TABLE work SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

-- Small tables whose rows change all the time: cleaned by number of changes, and without pauses.
DO $$ DECLARE hot text; BEGIN
  FOREACH hot IN ARRAY ARRAY['stream', 'worker', 'process', 'wait', 'match_cursor', 'gate_slot', 'throttle_start',
    'gathering', 'key_limit', 'guard_use', 'write_probe', 'run_hour_mark', 'unmatched_tally'] LOOP
    EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, '
      'autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off)', hot);
  END LOOP;
END $$;
