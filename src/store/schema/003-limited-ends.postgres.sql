-- The gates of limited runs, in the call that admits or ends one: a lock that is held over the network
-- keeps every other run of its gate waiting.

-- Locks a gate for one key to the commit: what is read behind it is what counts.
CREATE FUNCTION lock_gate_1(p_workflow text, p_gate text, p_key text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(
    '[' || to_json(p_workflow) || ',' || to_json(p_gate) || ',' || to_json(p_key) || '] ' || current_schema(), 0))
$$;

-- Why a run is in line, as `describeWait` says it, at a gate that counts unfinished runs.
CREATE FUNCTION describe_wait_1(p_gate text, p_key text, p_taken bigint, p_most bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_gate
    WHEN 'singleton' THEN 'singleton: another run' || coalesce(' with key ' || nullif(p_key, ''), '') || ' is unfinished'
    ELSE format('concurrency: %s of %s runs', p_taken, p_most) || coalesce(' with key ' || nullif(p_key, ''), '')
      || ' are at work' END
$$;

-- Lets runs in at a gate while it has room, by rank and age. Gives each of them with its next gate, which
-- is null where it has passed all. The caller has locked this one.
CREATE FUNCTION let_in_1(p_workflow text, p_gate text, p_key text)
RETURNS TABLE (run_id text, gate text, key text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  next text[];
  ranks bigint[];
  wakes bigint[];
  free integer;
BEGIN
  SELECT array_agg(run_id), array_agg(rank), array_agg(wake_at) INTO next, ranks, wakes FROM (
    SELECT run_id, rank, wake_at FROM gate_slot
    WHERE workflow = p_workflow AND gate = p_gate AND key = p_key AND is_held = 0 ORDER BY rank, run_id
    LIMIT greatest(0, coalesce((SELECT max_runs FROM gate_rule WHERE workflow = p_workflow AND gate = p_gate), 0)
      - (SELECT count(*) FROM gate_slot WHERE workflow = p_workflow AND gate = p_gate AND key = p_key AND is_held = 1)))
    AS line;
  IF next IS NULL THEN RETURN; END IF;
  PERFORM 1 FROM work WHERE run_id = ANY (next) ORDER BY run_id FOR UPDATE;
  -- A worker that has claimed the first in line is about to ask for it: no run overtakes it.
  SELECT count(*) INTO free FROM (
    SELECT bool_and(work.run_id IS NOT NULL) OVER (ORDER BY number) AS is_next
    FROM unnest(next) WITH ORDINALITY AS given (run, number) LEFT JOIN LATERAL (SELECT run_id FROM work
      WHERE run_id = given.run AND status = 'waiting' AND gate_state = 'in_line' OFFSET 0) AS work ON true) AS line
    WHERE is_next;
  -- By whole keys: one statement for all would read the line up to its end.
  FOR at IN 1..free LOOP
    UPDATE gate_slot SET is_held = 1 WHERE workflow = p_workflow AND gate = p_gate AND key = p_key AND is_held = 0
      AND rank = ranks[at] AND run_id = next[at];
  END LOOP;
  RETURN QUERY WITH gone AS (
    SELECT given.run, given.rank, given.wake, onward.gate, onward.key
    FROM unnest(next[:free], ranks[:free], wakes[:free]) AS given (run, rank, wake)
      CROSS JOIN LATERAL (SELECT gates FROM work WHERE run_id = given.run OFFSET 0) AS work
      LEFT JOIN LATERAL (
        SELECT line.gate ->> 'name' AS gate, line.gate ->> 'key' AS key
        FROM json_array_elements(work.gates::json) WITH ORDINALITY AS line (gate, number)
        WHERE NOT EXISTS (SELECT 1 FROM gate_slot WHERE workflow = p_workflow AND gate = line.gate ->> 'name'
          AND key = line.gate ->> 'key' AND is_held = 1 AND run_id = given.run OFFSET 0)
        ORDER BY line.number LIMIT 1) AS onward ON true),
  queued AS (
    INSERT INTO gate_slot (workflow, gate, key, is_held, rank, run_id, survives_sleep, wake_at)
      SELECT p_workflow, gate, key, 0, rank, run, (gate = 'singleton')::int, wake FROM gone WHERE gate IS NOT NULL),
  admitted AS (
    UPDATE work SET status = 'pending', gate_state = 'admitted', due_at = NULL, reason = NULL
      FROM gone WHERE gone.gate IS NULL AND work.run_id = gone.run AND work.run_id = ANY (next))
  SELECT run, gate, key FROM gone;
END $$;

-- Lets runs in at the given gates: gate by gate in the order of the line, the keys of each in their order, so
-- that no two calls wait for each other. A run that goes on to its next gate is let in there, or told why it
-- stands in line. Gives the runs that have passed all their gates.
CREATE FUNCTION advance_gates_1(flows text[], names text[], keys text[]) RETURNS text[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moved text[] := '{}';
  admitted text[] := '{}';
  here text;
  at record;
  went record;
BEGIN
  FOREACH here IN ARRAY ARRAY['singleton', 'concurrency-1', 'concurrency-2'] LOOP
    CONTINUE WHEN NOT here = ANY (names);
    PERFORM lock_gate_1(t.workflow, here, t.key) FROM (
      SELECT DISTINCT workflow, key FROM unnest(flows, names, keys) AS f (workflow, name, key)
      WHERE name = here ORDER BY workflow, key) AS t;
    FOR at IN SELECT DISTINCT workflow, key FROM unnest(flows, names, keys) AS f (workflow, name, key)
      WHERE name = here ORDER BY workflow, key
    LOOP
      FOR went IN SELECT run_id, gate, key FROM let_in_1(at.workflow, here, at.key) LOOP
        IF went.gate IS NULL THEN
          admitted := admitted || went.run_id;
          CONTINUE;
        END IF;
        moved := moved || went.run_id;
        flows := flows || at.workflow;
        names := names || went.gate;
        keys := keys || went.key;
      END LOOP;
    END LOOP;
  END LOOP;
  IF moved <> '{}' THEN PERFORM describe_standing_1(moved); END IF;
  RETURN admitted;
END $$;

-- Tells runs in line why they stand there, and when they are due.
CREATE FUNCTION describe_standing_1(p_run text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE work SET due_at = gate_slot.wake_at, reason = describe_wait_1(gate_slot.gate, gate_slot.key,
      (SELECT count(*) FROM gate_slot AS taken WHERE taken.workflow = gate_slot.workflow AND taken.gate = gate_slot.gate
        AND taken.key = gate_slot.key AND taken.is_held = 1),
      (SELECT (given ->> 'most')::bigint FROM json_array_elements(work.gates::json) AS given
        WHERE given ->> 'name' = gate_slot.gate))
    FROM gate_slot WHERE work.run_id = ANY (p_run) AND gate_slot.run_id = ANY (p_run) AND gate_slot.run_id = work.run_id
      AND gate_slot.is_held = 0 AND work.status = 'waiting' AND work.gate_state = 'in_line';
END $$;

-- Takes claimed runs to their gates: each is admitted and goes on, is `ready` where it may not start here, or
-- stands in line (`queued`). `more` where it has slots already, so that nothing is written; `stale`. Each plan
-- has the lines of a run, its rank, and whether its code has run before. Index: primary keys, gate_slot_run.
CREATE FUNCTION admit_runs_1(p_run text[], p_fence bigint[], p_era text[], p_worker text[], p_plans json)
RETURNS TABLE (number integer, verdict text, due_at bigint, reason text, started_at bigint, folded bigint)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  present text := era_1();
  held integer[];
  plain integer[];
BEGIN
  held := ARRAY(SELECT number FROM (SELECT * FROM unnest(p_run, p_fence, p_era) WITH ORDINALITY
    AS lease (run, fence, era, number) ORDER BY run) AS given CROSS JOIN LATERAL (SELECT FROM work
    WHERE run_id = given.run AND fence = given.fence AND status = 'running' AND coalesce(given.era, present) = present
    FOR UPDATE) AS held);
  plain := ARRAY(SELECT g FROM unnest(held) AS g
    WHERE NOT EXISTS (SELECT 1 FROM gate_slot WHERE run_id = p_run[g] OFFSET 0));
  UPDATE work SET gates = p.gates, rank = p.rank, status = 'waiting', gate_state = 'in_line', worker = NULL,
      claim = p.call, due_at = NULL, reason = NULL,
      -- Before the first admission of a limited run, its start is only the moment of a claim.
      started_at = CASE WHEN p."hasStarted" OR work.gate_state IS NOT NULL THEN started_at END
    FROM json_to_recordset(p_plans) AS p (number integer, call bigint, gates text, rank bigint, "hasStarted" boolean)
    WHERE p.number = ANY (plain) AND work.run_id = p_run[p.number] AND work.run_id = ANY (p_run);
  INSERT INTO gate_rule (workflow, gate, max_runs)
    SELECT DISTINCT ON (work.workflow, gate.name) work.workflow, gate.name, gate.most
    FROM work, json_to_recordset(work.gates::json) AS gate (name text, most bigint)
    WHERE work.run_id = ANY (ARRAY(SELECT p_run[g] FROM unnest(plain) AS g)) AND NOT EXISTS (SELECT 1 FROM gate_rule AS r
      WHERE r.workflow = work.workflow AND r.gate = gate.name AND r.max_runs = gate.most)
    ORDER BY work.workflow, gate.name
    ON CONFLICT (workflow, gate) DO UPDATE SET max_runs = excluded.max_runs, per_ms = NULL;
  INSERT INTO gate_slot (workflow, gate, key, is_held, rank, run_id, survives_sleep, wake_at)
    SELECT work.workflow, work.gates::json -> 0 ->> 'name', work.gates::json -> 0 ->> 'key', 0, work.rank, work.run_id,
      0, p."wakeAt"
    FROM json_to_recordset(p_plans) AS p (number integer, "wakeAt" bigint)
      CROSS JOIN LATERAL (SELECT * FROM work WHERE run_id = p_run[p.number] OFFSET 0) AS work
    WHERE p.number = ANY (plain);
  PERFORM advance_gates_1(array_agg(gate_slot.workflow), array_agg(gate_slot.gate), array_agg(gate_slot.key))
    FROM gate_slot WHERE run_id = ANY (ARRAY(SELECT p_run[g] FROM unnest(plain) AS g)) HAVING count(*) > 0;
  PERFORM describe_standing_1(ARRAY(SELECT p_run[g] FROM unnest(plain) AS g));
  UPDATE work SET status = CASE WHEN p."mayStart" THEN 'running' ELSE 'pending' END,
      worker = CASE WHEN p."mayStart" THEN p_worker[p.number] END,
      started_at = CASE WHEN p."mayStart"
        THEN coalesce(work.started_at, greatest(p.now, (SELECT created_at FROM run WHERE id = work.run_id))) END
    FROM json_to_recordset(p_plans) AS p (number integer, now bigint, "mayStart" boolean)
    WHERE p.number = ANY (plain) AND work.run_id = p_run[p.number] AND work.run_id = ANY (p_run)
      AND work.status = 'pending';
  -- What this call wrote before its answer was lost is known by its number.
  RETURN QUERY SELECT g, CASE WHEN g = ANY (held) AND NOT g = ANY (plain) THEN 'more'
      WHEN work.gate_state = 'in_line' AND work.status = 'waiting' THEN 'queued'
      WHEN work.gate_state = 'admitted' AND work.status = 'pending' THEN 'ready'
      WHEN work.gate_state = 'admitted' AND g = ANY (plain) THEN 'admitted' ELSE 'stale' END,
      work.due_at, work.reason, work.started_at, work.folded
    FROM generate_series(1, cardinality(p_run)) AS g
      LEFT JOIN LATERAL (SELECT work.* FROM work, json_to_recordset(p_plans) AS p (number integer, call bigint)
        WHERE p.number = g AND run_id = p_run[g] AND fence = p_fence[g] AND claim = p.call OFFSET 0) AS work ON true;
END $$;

-- Claims runs that were let in, for the workers whose runs of the workflow have ended: the first for the first
-- of `p_ended`. One stays pending whose workflow is paused, that is tried alone, or that comes after a run of
-- a higher priority. Index: primary keys, and the first rows of work_ready.
CREATE FUNCTION hand_on_1(p_admitted text[], p_ended text[], p_worker text[], p_claim bigint[], p_at bigint[])
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  runs text[];
  moments bigint[];
BEGIN
  WITH line AS (
    SELECT work.run_id, work.workflow, row_number() OVER (PARTITION BY work.workflow ORDER BY given.number) AS number
    FROM unnest(p_admitted) WITH ORDINALITY AS given (run, number)
      CROSS JOIN LATERAL (SELECT * FROM work WHERE run_id = given.run OFFSET 0) AS work
    WHERE work.suspicion < 2 AND work.workflow NOT IN (SELECT workflow FROM workflow_pause)
      AND NOT EXISTS (SELECT 1 FROM work AS before WHERE before.status = 'pending' AND before.suspicion < 2
        AND before.turn >= -1998 AND before.turn < work.turn OFFSET 0)),
  room AS (
    SELECT given.worker, given.claim, given.at, run.workflow,
      row_number() OVER (PARTITION BY run.workflow ORDER BY given.number) AS number
    FROM unnest(p_ended, p_worker, p_claim, p_at) WITH ORDINALITY AS given (run, worker, claim, at, number)
      JOIN run ON run.id = given.run
    WHERE given.claim IS NOT NULL),
  taken AS (UPDATE work SET status = 'running', worker = room.worker, claim = room.claim, fence = work.fence + 1,
      started_at = coalesce(work.started_at,
        greatest(room.at, (SELECT created_at FROM run WHERE id = work.run_id)))
    FROM line JOIN room ON room.workflow = line.workflow AND room.number = line.number
    WHERE work.run_id = line.run_id AND work.run_id = ANY (p_admitted) RETURNING work.run_id, room.at)
  SELECT array_agg(run_id ORDER BY run_id), array_agg(at ORDER BY run_id) INTO runs, moments FROM taken;
  FOR n IN 1..coalesce(cardinality(runs), 0) LOOP
    PERFORM start_throttle_1(runs[n], moments[n]);
  END LOOP;
  RETURN coalesce(cardinality(runs), 0);
END $$;
