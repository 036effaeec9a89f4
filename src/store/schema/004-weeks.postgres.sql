-- Weeks: tables of one kind have partitions with the same bounds. The first one, `_old`, has what
-- outlived its week; the last one is open, and empty while weeks are made ahead. The functions that
-- change them have the rights of the owner, so that the processes need no right to change tables.

CREATE FUNCTION week_tables_1(p_kind text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_kind
    WHEN 'runs' THEN ARRAY['run', 'outcome', 'step', 'step_failure', 'run_log', 'run_tag', 'run_progress', 'large_output']
    WHEN 'deliveries' THEN ARRAY['delivery']
    WHEN 'payloads' THEN ARRAY['event_body'] END
$$;

-- The partitions of a table; null as a bound: none.
CREATE FUNCTION list_weeks_1(p_table text) RETURNS TABLE (name text, lower text, upper text)
LANGUAGE sql STABLE AS $$
  SELECT part.relname, nullif(btrim(bound[1], ''''), 'MINVALUE'), nullif(btrim(bound[2], ''''), 'MAXVALUE')
  FROM pg_inherits AS child JOIN pg_class AS part ON part.oid = child.inhrelid,
    regexp_match(pg_get_expr(part.relpartbound, part.oid), 'FROM \((.*)\) TO \((.*)\)') AS bound
  WHERE child.inhparent = p_table::regclass
$$;

-- Whoever waits for these locks makes all others wait, so the functions below give up soon.
CREATE FUNCTION lock_weeks_1(p_kind text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  tab text;
BEGIN
  FOREACH tab IN ARRAY week_tables_1(p_kind) LOOP
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', tab);
  END LOOP;
END $$;

-- The first column of a table of weeks decides the partition of a row.
CREATE FUNCTION week_key_1(p_table text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT attname FROM pg_attribute WHERE attrelid = p_table::regclass
    AND attnum = (SELECT partattrs[0] FROM pg_partitioned_table WHERE partrelid = p_table::regclass)
$$;

-- Begins a new open partition at `p_at`. False where rows are behind it already, or a week is.
CREATE FUNCTION cut_week_1(p_kind text, p_at text, p_name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
DECLARE
  tab text;
  latest record;
  is_used boolean;
BEGIN
  PERFORM lock_weeks_1(p_kind);
  FOREACH tab IN ARRAY week_tables_1(p_kind) LOOP
    SELECT * INTO latest FROM list_weeks_1(tab) AS week WHERE week.upper IS NULL;
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE %I >= %L)', tab, week_key_1(tab), p_at) INTO is_used;
    IF is_used OR latest.lower IS NOT NULL AND latest.lower COLLATE "C" >= p_at THEN RETURN false; END IF;
  END LOOP;
  FOREACH tab IN ARRAY week_tables_1(p_kind) LOOP
    SELECT * INTO latest FROM list_weeks_1(tab) AS week WHERE week.upper IS NULL;
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', tab, latest.name);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%L)', tab, latest.name,
      coalesce(quote_literal(latest.lower), 'MINVALUE'), p_at);
    EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (MAXVALUE)', tab || '_' || p_name, tab, p_at);
  END LOOP;
  RETURN true;
END $$;

-- Drops a week but for the rows with these keys, which go to the partition before it. `p_rows`: SQL
-- that selects them from the partition and the keys; null: by the key of each table.
CREATE FUNCTION drop_week_1(p_kind text, p_upper text, p_rows text, p_kept text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  tab text;
  gone record;
  older record;
BEGIN
  FOREACH tab IN ARRAY week_tables_1(p_kind) LOOP
    SELECT * INTO gone FROM list_weeks_1(tab) AS week WHERE week.upper = p_upper;
    SELECT * INTO older FROM list_weeks_1(tab) AS week WHERE week.upper = gone.lower;
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', tab, gone.name);
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', tab, older.name);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%L)', tab, older.name,
      coalesce(quote_literal(older.lower), 'MINVALUE'), p_upper);
    IF cardinality(p_kept) > 0 THEN
      EXECUTE format('INSERT INTO %I OVERRIDING SYSTEM VALUE ', tab)
        || format(coalesce(p_rows, 'SELECT * FROM %I WHERE %I = ANY ($1)'), gone.name, week_key_1(tab)) USING p_kept;
    END IF;
    EXECUTE format('DROP TABLE %I', gone.name);
  END LOOP;
END $$;

-- Drops a week of runs, with their ticks, but for `p_kept` and what changed since `p_since`: runs at
-- work, those that ended since, and those whose events either has, or a run of another week. Gives the
-- number of runs that stay; null: there is no such week. Index: primary keys, outcome_finished,
-- outcome_folded, run_events_of.
CREATE FUNCTION drop_runs_1(p_upper text, p_kept text[], p_since bigint) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' SET enable_seqscan = off AS $$
DECLARE
  lowest text;
  kept text[];
  above text[];
BEGIN
  PERFORM lock_weeks_1('runs');
  SELECT week.lower INTO lowest FROM list_weeks_1('run') AS week WHERE week.upper = p_upper;
  IF lowest IS NULL THEN RETURN NULL; END IF;
  kept := ARRAY(SELECT unnest(p_kept) UNION SELECT run_id FROM work WHERE run_id >= lowest AND run_id < p_upper
    UNION SELECT run_id FROM outcome WHERE run_id >= lowest AND run_id < p_upper AND finished_at >= p_since);
  above := ARRAY(SELECT unnest(kept)
    UNION SELECT events_of FROM run WHERE id = ANY (kept) AND events_of IS NOT NULL
    UNION SELECT events_of FROM run WHERE events_of >= lowest AND events_of < p_upper AND (id < lowest OR id >= p_upper));
  LOOP
    -- Those of other weeks, too: a run of this one may be folded into the first of them.
    above := ARRAY(SELECT run_id FROM outcome WHERE folded_into = ANY (above) EXCEPT SELECT unnest(kept));
    EXIT WHEN cardinality(above) = 0;
    kept := kept || above;
  END LOOP;
  kept := ARRAY(SELECT id FROM unnest(kept) AS id WHERE id >= lowest AND id < p_upper);
  PERFORM drop_week_1('runs', p_upper, NULL, kept);
  DELETE FROM tick WHERE run_id >= lowest AND run_id < p_upper AND run_id <> ALL (kept);
  -- A hook whose step another run has, as a fork does, stays for that one. Index: step_hook.
  UPDATE hook SET run_id = (SELECT step.run_id FROM step WHERE step.kind = 'hook' AND step.target = hook.id LIMIT 1)
    WHERE run_id >= lowest AND run_id < p_upper AND run_id <> ALL (kept)
      AND (SELECT 1 FROM step WHERE step.kind = 'hook' AND step.target = hook.id LIMIT 1) = 1;
  WITH gone AS (DELETE FROM hook WHERE run_id >= lowest AND run_id < p_upper AND run_id <> ALL (kept) RETURNING id)
  DELETE FROM hook_answer WHERE hook IN (SELECT id FROM gone);
  DELETE FROM pruned_run WHERE run_id >= lowest AND run_id < p_upper;
  -- The counters of their deletes go in slices: a run may have one for each of many folders.
  INSERT INTO pruned_run SELECT DISTINCT substr(scope, 5) FROM guard_use
    WHERE scope >= 'run/' || lowest AND scope < 'run/' || p_upper AND strpos(substr(scope, 5), '/') = 0
      AND substr(scope, 5) <> ALL (kept)
    ON CONFLICT DO NOTHING;
  RETURN cardinality(kept);
END $$;

-- Rows of a partition; a guess of the planner, where it is large enough to have one.
CREATE FUNCTION count_week_1(p_table text, p_upper text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  counted bigint;
  part text;
BEGIN
  SELECT week.name INTO part FROM list_weeks_1(p_table) AS week WHERE week.upper = p_upper;
  SELECT reltuples INTO counted FROM pg_class WHERE oid = part::regclass;
  IF counted < 0 THEN EXECUTE format('SELECT count(*) FROM %I', part) INTO counted; END IF;
  RETURN counted;
END $$;

-- Drops a week of the ledger of deliveries, and counts its refusals as dropped. Gives the rows of
-- before, and those of them that were refusals; none: there is no such week. Index: delivery_refused.
CREATE FUNCTION drop_deliveries_1(p_upper text) RETURNS TABLE (deliveries bigint, refusals bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' SET enable_seqscan = off AS $$
DECLARE
  lowest text;
BEGIN
  PERFORM lock_weeks_1('deliveries');
  SELECT week.lower INTO lowest FROM list_weeks_1('delivery') AS week WHERE week.upper = p_upper;
  IF lowest IS NULL THEN RETURN; END IF;
  deliveries := count_week_1('delivery', p_upper);
  WITH refused AS (SELECT verdict, count(*) AS n FROM delivery
      WHERE id >= lowest AND id < p_upper AND event_id IS NULL GROUP BY verdict),
    counted AS (UPDATE refusal_tally SET listed = listed - refused.n, dropped = dropped + refused.n
      FROM refused WHERE refusal_tally.verdict = refused.verdict)
  SELECT coalesce(sum(n), 0) INTO refusals FROM refused;
  PERFORM drop_week_1('deliveries', p_upper, NULL, '{}');
  RETURN NEXT;
END $$;

-- Drops a week of bodies, but for those of unfinished runs. Gives its rows of before, and those that
-- stay; none: there is no such week, or there are too many unfinished runs to look at each of them
-- while all others wait. Index: primary keys, outcome_folded.
CREATE FUNCTION drop_bodies_1(p_upper text, p_most_unfinished integer) RETURNS TABLE (bodies bigint, kept bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  lowest text;
  needed text[];
BEGIN
  PERFORM lock_weeks_1('payloads');
  SELECT week.lower INTO lowest FROM list_weeks_1('event_body') AS week WHERE week.upper = p_upper;
  IF lowest IS NULL OR (SELECT count(*) FROM (SELECT 1 FROM work LIMIT p_most_unfinished + 1) AS first) > p_most_unfinished
    THEN RETURN;
  END IF;
  needed := ARRAY(
    WITH RECURSIVE unfinished (id) AS (
      SELECT unnest(ARRAY[run_id, (SELECT events_of FROM run WHERE id = run_id)]) FROM work
      UNION SELECT outcome.run_id FROM unfinished JOIN outcome ON outcome.folded_into = unfinished.id)
    SELECT DISTINCT event.seq::text FROM unfinished JOIN run ON run.id = unfinished.id
      JOIN event ON event.stream = run.event_seq % 8 AND event.seq = run.event_seq
    WHERE event.received_at >= lowest::bigint AND event.received_at < p_upper::bigint);
  bodies := count_week_1('event_body', p_upper);
  kept := cardinality(needed);
  PERFORM drop_week_1('payloads', p_upper,
    'SELECT gone.* FROM unnest($1::bigint[]) AS given (seq)
       JOIN event ON event.stream = given.seq %% 8 AND event.seq = given.seq
       JOIN %I AS gone ON gone.%I = event.received_at AND gone.seq = given.seq', needed);
  RETURN NEXT;
END $$;

-- Makes a week a part of `_old`, whose rows go one by one: the way of a week of which much stays.
-- False where `_old` has more rows than may be copied while all others wait.
CREATE FUNCTION keep_week_1(p_kind text, p_upper text, p_most integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
DECLARE
  tab text;
  mixed record;
  older record;
  many bigint;
BEGIN
  PERFORM lock_weeks_1(p_kind);
  FOREACH tab IN ARRAY week_tables_1(p_kind) LOOP
    SELECT * INTO mixed FROM list_weeks_1(tab) AS one WHERE one.upper = p_upper;
    SELECT * INTO older FROM list_weeks_1(tab) AS one WHERE one.upper = mixed.lower;
    IF older IS NULL THEN RETURN false; END IF;
    EXECUTE format('SELECT count(*) FROM (SELECT 1 FROM %I LIMIT %s) AS first', older.name, p_most + 1) INTO many;
    IF many > p_most THEN RETURN false; END IF;
  END LOOP;
  FOREACH tab IN ARRAY week_tables_1(p_kind) LOOP
    SELECT * INTO mixed FROM list_weeks_1(tab) AS one WHERE one.upper = p_upper;
    SELECT * INTO older FROM list_weeks_1(tab) AS one WHERE one.upper = mixed.lower;
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', tab, older.name);
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', tab, mixed.name);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%L)', tab, mixed.name,
      coalesce(quote_literal(older.lower), 'MINVALUE'), p_upper);
    EXECUTE format('INSERT INTO %I OVERRIDING SYSTEM VALUE SELECT * FROM %I', tab, older.name);
    EXECUTE format('DROP TABLE %I', older.name);
  END LOOP;
  RETURN true;
END $$;
