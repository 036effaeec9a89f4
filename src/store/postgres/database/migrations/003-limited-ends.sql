-- The end of a limited run, and who goes on after it, in one call: a lock that is held over the
-- network keeps every other run of its gate waiting.

-- Locks a gate for one key to the commit: what is read behind it is what counts.
CREATE FUNCTION lock_gate_1(p_workflow text, p_gate text, p_key text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(
    '[' || to_json(p_workflow) || ',' || to_json(p_gate) || ',' || to_json(p_key) || ']', 0))
$$;

-- Why a run is in line, as `describeWait` says it, at a gate that counts unfinished runs.
CREATE FUNCTION describe_wait_1(p_gate text, p_key text, p_taken bigint, p_most bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_gate
    WHEN 'singleton' THEN 'singleton: another run' || coalesce(' with key ' || nullif(p_key, ''), '') || ' is unfinished'
    ELSE format('concurrency: %s of %s runs', p_taken, p_most) || coalesce(' with key ' || nullif(p_key, ''), '')
      || ' are at work' END
$$;

-- Lets runs in at a gate while it has room, by rank and age. Gives the runs that go on to their next
-- gate, with that gate. The caller has locked this one.
CREATE FUNCTION let_in_1(p_workflow text, p_gate text, p_key text)
RETURNS TABLE (run_id text, gate text, key text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  free bigint;
  next record;
  line text;
BEGIN
  SELECT max_runs INTO free FROM gate_rule WHERE workflow = p_workflow AND gate = p_gate;
  IF NOT FOUND THEN RETURN; END IF;
  free := free - (SELECT count(*) FROM place
    WHERE workflow = p_workflow AND gate = p_gate AND key = p_key AND is_held = 1);
  WHILE free > 0 LOOP
    SELECT rank, run_id, wake_at INTO next FROM place
      WHERE workflow = p_workflow AND gate = p_gate AND key = p_key AND is_held = 0 ORDER BY rank, run_id LIMIT 1;
    IF NOT FOUND THEN RETURN; END IF;
    -- A worker that has claimed the first in line is about to ask for it: no run overtakes it.
    SELECT gates INTO line FROM work
      WHERE run_id = next.run_id AND status = 'waiting' AND gate_state = 'in_line' FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    UPDATE place SET is_held = 1 WHERE workflow = p_workflow AND gate = p_gate AND key = p_key AND is_held = 0
      AND rank = next.rank AND run_id = next.run_id;
    free := free - 1;
    SELECT next.run_id, given.gate ->> 'name', given.gate ->> 'key' INTO run_id, gate, key
      FROM json_array_elements(line::json) WITH ORDINALITY AS given (gate, number)
      WHERE NOT EXISTS (SELECT 1 FROM place WHERE workflow = p_workflow AND gate = given.gate ->> 'name'
        AND key = given.gate ->> 'key' AND is_held = 1 AND run_id = next.run_id)
      ORDER BY given.number LIMIT 1;
    IF FOUND THEN
      INSERT INTO place (workflow, gate, key, is_held, rank, run_id, survives_sleep, wake_at)
        VALUES (p_workflow, gate, key, 0, next.rank, next.run_id, (gate = 'singleton')::int, next.wake_at);
      RETURN NEXT;
    ELSE
      UPDATE work SET status = 'pending', gate_state = 'admitted', due_at = NULL, reason = NULL
        WHERE run_id = next.run_id;
    END IF;
  END LOOP;
END $$;

-- Completes limited runs and gives their places on: gate by gate in the order of the line, the keys
-- of each in their order, so that no two calls wait for each other. The verdict of a lease: `done`;
-- `stale`; `more` where its end has further effects, and is not written. Those are ticks, waits, a run
-- that invoked it, and workflows with a throttle, whose lines are moments. Index: primary keys,
-- place_run, gathering_run, wait_child.
CREATE FUNCTION end_limited_1(p_run text[], p_fence bigint[], p_era text[], p_result text[], p_at bigint[])
RETURNS TABLE (number integer, verdict text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  present text := era_1();
  held integer[];
  ended text[];
  flows text[];
  names text[];
  keys text[];
  moved text[] := '{}';
  here text;
  at record;
  went record;
BEGIN
  held := ARRAY(SELECT given.number FROM unnest(p_run, p_fence, p_era) WITH ORDINALITY AS given (run, fence, era, number)
    JOIN work ON work.run_id = given.run AND work.fence = given.fence AND work.status = 'running'
      AND coalesce(given.era, present) = present
    ORDER BY work.run_id FOR UPDATE OF work);
  ended := ARRAY(SELECT work.run_id FROM unnest(held) AS g JOIN work ON work.run_id = p_run[g]
    WHERE work.tick_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM gate_rule AS r WHERE r.workflow = work.workflow AND r.gate = 'throttle')
      AND NOT EXISTS (SELECT 1 FROM wait WHERE wait.run_id = work.run_id)
      AND NOT EXISTS (SELECT 1 FROM wait WHERE wait.child_run = work.run_id));
  WITH gone AS (DELETE FROM work WHERE run_id = ANY (ended) RETURNING *)
  INSERT INTO outcome (run_id, workflow, status, rank, fence, attempt, started_at, finished_at, code_hash, output,
      error, gates, gate_state, folded)
    SELECT gone.run_id, gone.workflow, 'completed', gone.rank, gone.fence, gone.attempt, gone.started_at, given.at,
      gone.code_hash, given.result, gone.error, gone.gates, CASE WHEN gone.gate_state IS NOT NULL THEN 'outside' END,
      gone.folded
    FROM gone JOIN unnest(p_run, p_result, p_at) AS given (run, result, at) ON gone.run_id = given.run;
  PERFORM mark_hours_1(ended, p_at[1]);
  DELETE FROM gathering WHERE run_id = ANY (ended);
  WITH freed AS (DELETE FROM place WHERE run_id = ANY (ended) RETURNING workflow, gate, key)
    SELECT array_agg(workflow), array_agg(gate), array_agg(key) INTO flows, names, keys
    FROM (SELECT DISTINCT workflow, gate, key FROM freed) AS once;
  FOREACH here IN ARRAY ARRAY['singleton', 'concurrency-1', 'concurrency-2'] LOOP
    PERFORM lock_gate_1(t.workflow, here, t.key) FROM (
      SELECT DISTINCT workflow, key FROM unnest(flows, names, keys) AS f (workflow, name, key)
      WHERE name = here ORDER BY workflow, key) AS t;
    FOR at IN SELECT DISTINCT workflow, key FROM unnest(flows, names, keys) AS f (workflow, name, key)
      WHERE name = here ORDER BY workflow, key
    LOOP
      FOR went IN SELECT run_id, gate, key FROM let_in_1(at.workflow, here, at.key) LOOP
        moved := moved || went.run_id;
        flows := flows || at.workflow;
        names := names || went.gate;
        keys := keys || went.key;
      END LOOP;
    END LOOP;
  END LOOP;
  UPDATE work SET due_at = place.wake_at, reason = describe_wait_1(place.gate, place.key,
      (SELECT count(*) FROM place AS taken WHERE taken.workflow = place.workflow AND taken.gate = place.gate
        AND taken.key = place.key AND taken.is_held = 1),
      (SELECT (given ->> 'most')::bigint FROM json_array_elements(work.gates::json) AS given
        WHERE given ->> 'name' = place.gate))
    FROM place WHERE work.run_id = ANY (moved) AND place.run_id = work.run_id AND place.is_held = 0
      AND work.status = 'waiting' AND work.gate_state = 'in_line';
  RETURN QUERY SELECT g, CASE WHEN p_run[g] = ANY (ended) AND g = ANY (held) THEN 'done' WHEN g = ANY (held) THEN 'more'
      WHEN EXISTS (SELECT 1 FROM outcome WHERE run_id = p_run[g] AND fence = p_fence[g] AND status = 'completed')
      THEN 'done' ELSE 'stale' END
    FROM generate_series(1, cardinality(p_run)) AS g;
END $$;
