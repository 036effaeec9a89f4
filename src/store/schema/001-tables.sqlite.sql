-- What SQLite has apart from PostgreSQL, in words of its own.

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

-- An event as PostgreSQL has it. All of them are in one stream.
CREATE VIEW full_event AS
  SELECT 0 AS stream, seq, id, account, type, origin, created_at, received_at, body FROM event;

-- The Bloom filters of 32 blocks of 65,536 events, up to and including the event `seq`.
CREATE TABLE event_filter (
  number      INTEGER PRIMARY KEY,
  seq         INTEGER NOT NULL,
  filters     BLOB NOT NULL
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

-- How far pruning has come in a table whose rows stay.
CREATE TABLE prune_mark (
  kind        TEXT PRIMARY KEY,
  position    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The leases of a worker, in the order of their runs.
CREATE INDEX work_leased ON work (worker) WHERE status = 'running';

-- The file whose lock tells whether the worker's process lives.
ALTER TABLE worker ADD COLUMN lock_file TEXT;

-- Rows that nobody changes. PostgreSQL has rights for that.

-- Only text that a person erases changes a row.
CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit
WHEN (NEW.id, NEW.at, NEW.actor, NEW.role, NEW.origin, NEW.action, NEW.outcome)
  IS NOT (OLD.id, OLD.at, OLD.actor, OLD.role, OLD.origin, OLD.action, OLD.outcome)
  OR instr(concat(NEW.target, NEW.reason, NEW.parameters, NEW.error), '[erased]') = 0
BEGIN
  SELECT RAISE(ABORT, 'a row of the audit log is never changed');
END;

CREATE TRIGGER effect_is_final BEFORE UPDATE ON effect
WHEN NEW.erased IS OLD.erased OR NEW.erased IS NULL
  OR NOT EXISTS (SELECT 1 FROM effect WHERE seq = NEW.erased ->> 'by' AND operation = 'erase')
BEGIN
  SELECT RAISE(ABORT, 'a row of the effect ledger is never changed');
END;

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
