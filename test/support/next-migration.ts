/** A migration as a next release may have it while processes of this one run. */
export const NEXT_MIGRATION = `
  ALTER TABLE work ADD COLUMN pace int NOT NULL DEFAULT 0;
  ALTER TABLE run ADD COLUMN region text NOT NULL DEFAULT 'here';
  ALTER TABLE step ADD COLUMN cost bigint;
  CREATE TABLE lane (id text PRIMARY KEY);
  CREATE FUNCTION save_journal_99() RETURNS integer LANGUAGE sql AS 'SELECT 1';`
