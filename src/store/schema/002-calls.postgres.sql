-- The calls of each delivery, step and run: one call is one commit and one message. A name ends in
-- its version, so that processes of two releases can work on one schema. One plan serves all values:
-- the indexes are known, and planning anew takes as long as the rows. Functions without settings have those of
-- the calls that they are a part of. A plan may be made while tables are empty and outlives that: where rows are
-- looked up by a list, LATERAL and OFFSET 0 keep the planner from reading the table once for all of them.

-- The history that the server writes: another one after each failover, so that a lease of before is
-- known. Empty where the server has no such word, and keeps one history whatever fails.
DO $$
BEGIN
  PERFORM pg_walfile_name(pg_current_wal_insert_lsn());
  CREATE FUNCTION era_1() RETURNS text LANGUAGE sql AS
    'SELECT substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)';
EXCEPTION WHEN undefined_function OR insufficient_privilege OR feature_not_supported THEN
  CREATE FUNCTION era_1() RETURNS text LANGUAGE sql AS $era$ SELECT '' $era$;
END $$;

-- Adds an accepted type's events that no workflow starts on.
CREATE FUNCTION tally_unmatched_1(p_type text[], p_at bigint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO unmatched_tally (type, events, last_at)
  SELECT type, count(*), max(at) FROM unnest(p_type, p_at) AS given (type, at) GROUP BY type ORDER BY type
  ON CONFLICT (type) DO UPDATE SET events = unmatched_tally.events + excluded.events,
    last_at = greatest(unmatched_tally.last_at, excluded.last_at)
$$;

-- Saves deliveries of one stream, with their events, runs and queue rows. Index: primary keys, the
-- first rows of work_ready and work_waiting, and delivery_repeat. A delivery that is there already
-- gives the verdict that it had.
CREATE FUNCTION save_deliveries_1(
  p_stream integer, p_setup bigint[], p_identity uuid[], p_hash uuid[], p_id text[], p_account text[], p_type text[],
  p_created bigint[], p_received bigint[], p_body text[], p_delivery text[], p_endpoint text[], p_facts text[],
  p_unmatched boolean[], p_run_of integer[], p_run text[], p_workflow text[], p_rank bigint[], p_code text[],
  p_worker text
) RETURNS TABLE (number integer, seq bigint, verdict text, is_taken boolean, is_left_out boolean)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
  n integer := cardinality(p_identity);
  base bigint;
  present bigint;
  fresh integer;
  is_free boolean := false;
BEGIN
  -- The stream's row orders its events by commit: held to the end of the transaction.
  UPDATE stream SET seq = stream.seq + 8 * n WHERE id = p_stream RETURNING stream.seq - 8 * n INTO base;
  SELECT e.version + w.version INTO present FROM endpoint_version AS e, workflow_version AS w;
  INSERT INTO event_identity (identity, seq, body_hash)
    SELECT given.identity, base + 8 * given.number, given.hash
    FROM unnest(p_identity, p_hash, p_setup) WITH ORDINALITY AS given (identity, hash, setup, number)
    WHERE coalesce(given.setup, present) = present
    ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS fresh = ROW_COUNT;
  IF p_worker IS NOT NULL THEN
    is_free := NOT EXISTS (SELECT 1 FROM work WHERE status = 'pending' AND suspicion < 2)
      AND NOT EXISTS (SELECT 1 FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= p_received[1])
      AND NOT EXISTS (SELECT 1 FROM workflow_pause WHERE workflow = ANY (p_workflow));
  END IF;
  -- Where some are known, each row is joined to what its identity says.
  INSERT INTO event (stream, seq, id, account, type, origin, created_at, received_at)
    SELECT p_stream, base + 8 * t.o, t.id, t.account, t.type, 'webhook', t.created, t.received
    FROM unnest(p_identity, p_id, p_account, p_type, p_created, p_received) WITH ORDINALITY
      AS t (identity, id, account, type, created, received, o)
    WHERE fresh = n OR EXISTS (SELECT 1 FROM event_identity AS i WHERE i.identity = t.identity AND i.seq = base + 8 * t.o);
  INSERT INTO event_body (received_at, seq, body)
    SELECT t.received, base + 8 * t.o, t.body
    FROM unnest(p_identity, p_received, p_body) WITH ORDINALITY AS t (identity, received, body, o)
    WHERE fresh = n OR EXISTS (SELECT 1 FROM event_identity AS i WHERE i.identity = t.identity AND i.seq = base + 8 * t.o);
  INSERT INTO run (id, workflow, event_seq, created_at)
    SELECT t.id, t.workflow, base + 8 * t.o, p_received[t.o] FROM unnest(p_run, p_workflow, p_run_of) AS t (id, workflow, o)
    WHERE fresh = n
      OR EXISTS (SELECT 1 FROM event_identity AS i WHERE i.identity = p_identity[t.o] AND i.seq = base + 8 * t.o);
  INSERT INTO work (run_id, workflow, status, rank, fence, worker, started_at, code_hash)
    SELECT t.id, t.workflow, CASE WHEN is_free THEN 'running' ELSE 'pending' END, t.rank, is_free::int,
      CASE WHEN is_free THEN p_worker END, CASE WHEN is_free THEN p_received[t.o] END, CASE WHEN is_free THEN t.code END
    FROM unnest(p_run, p_workflow, p_run_of, p_rank, p_code) AS t (id, workflow, o, rank, code)
    WHERE fresh = n
      OR EXISTS (SELECT 1 FROM event_identity AS i WHERE i.identity = p_identity[t.o] AND i.seq = base + 8 * t.o);
  IF true = ANY (p_unmatched) THEN
    PERFORM tally_unmatched_1(array_agg(t.type), array_agg(t.received))
    FROM unnest(p_unmatched, p_identity, p_type, p_received) WITH ORDINALITY AS t (unmatched, identity, type, received, o)
    WHERE t.unmatched
      AND EXISTS (SELECT 1 FROM event_identity AS i WHERE i.identity = t.identity AND i.seq = base + 8 * t.o);
  END IF;
  IF fresh = n THEN
    INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
      SELECT t.id, t.endpoint, t.received, 'accepted', t.event, base + 8 * t.o, octet_length(t.body), t.facts
      FROM unnest(p_delivery, p_endpoint, p_received, p_id, p_body, p_facts) WITH ORDINALITY
        AS t (id, endpoint, received, event, body, facts, o);
    RETURN QUERY SELECT g, base + 8 * g, 'accepted', is_free, false FROM generate_series(1, n) AS g;
    RETURN;
  END IF;
  RETURN QUERY
    WITH known AS MATERIALIZED (
      SELECT t.o::integer AS o, i.seq, before.verdict AS before, t.id, t.endpoint, t.received, t.event, t.body, t.facts,
        CASE WHEN i.seq = base + 8 * t.o THEN 'accepted' WHEN i.body_hash = t.hash THEN 'duplicate' ELSE 'conflict' END
          AS verdict
      FROM unnest(p_identity, p_hash, p_setup, p_delivery, p_endpoint, p_received, p_id, p_body, p_facts) WITH ORDINALITY
          AS t (identity, hash, setup, id, endpoint, received, event, body, facts, o)
        LEFT JOIN event_identity AS i ON i.identity = t.identity
        LEFT JOIN delivery AS before ON before.id = t.id
      WHERE before.id IS NOT NULL OR coalesce(t.setup, present) = present),
    saved AS (
      INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
      SELECT id, endpoint, received, verdict, event, known.seq, octet_length(body), facts FROM known WHERE before IS NULL)
    SELECT known.o, known.seq, coalesce(known.before, known.verdict),
      CASE WHEN known.before IS NULL THEN known.verdict = 'accepted' AND is_free
        -- Those of a later claim are known to whoever made that.
        ELSE EXISTS (SELECT 1 FROM run JOIN work ON work.run_id = run.id
          WHERE run.event_seq = known.seq AND work.worker = p_worker AND work.fence = 1 AND work.claim IS NULL) END,
      known.verdict = 'duplicate' AND EXISTS (SELECT 1 FROM delivery AS first WHERE first.event_seq = known.seq
        AND first.verdict = 'accepted' AND first.facts LIKE '%"leftOut":true%')
    FROM known;
END $$;

-- The next runs to claim, locked: due ones first, then by turn and age. A `fresh` claim takes due
-- ones last. `p_turns` and `p_after` are marks: the runs of each turn begin behind one, the due ones
-- at `p_due`. What stands before marks is looked at only where too few runs stand behind them
-- (`is_whole`). The first `due` of the ids were due, except in a `fresh` claim, which counts none.
-- Index: work_waiting, work_ready and work_suspect, in their order.
CREATE FUNCTION claimable_1(p_kind text, p_worker text, p_limit integer, p_now bigint, p_turns bigint[],
  p_after text[], p_due bigint, OUT ids text[], OUT due integer, OUT is_whole boolean)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  marks integer := cardinality(p_turns);
  low bigint;
  high bigint;
  after text;
  since bigint := coalesce(p_due, -9223372036854775808);
  -- Workflows that only other workers at work have: their runs are left to those.
  lacking text[] := ARRAY(SELECT theirs.workflow FROM worker_workflow AS theirs
    WHERE theirs.worker <> p_worker AND NOT EXISTS (SELECT 1 FROM worker_workflow AS own
      WHERE own.worker = p_worker AND own.workflow = theirs.workflow));
BEGIN
  ids := '{}';
  due := 0;
  is_whole := false;
  IF p_kind = 'suspect' THEN
    ids := ARRAY(SELECT run_id FROM work WHERE status = 'pending' AND suspicion >= 2 AND NOT workflow = ANY (lacking)
      ORDER BY turn, run_id LIMIT p_limit FOR UPDATE SKIP LOCKED);
    is_whole := true;
    RETURN;
  END IF;
  IF p_kind = 'any' THEN
    ids := ARRAY(SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at >= since
      AND due_at <= p_now AND NOT workflow = ANY (lacking) ORDER BY due_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
    due := cardinality(ids);
  END IF;
  -- From each mark to where the next marked turn begins.
  FOR mark IN 0..marks LOOP
    EXIT WHEN cardinality(ids) >= p_limit;
    low := CASE WHEN mark = 0 THEN -9223372036854775808 ELSE p_turns[mark] END;
    after := CASE WHEN mark = 0 THEN '' ELSE p_after[mark] END;
    high := CASE WHEN mark < marks THEN p_turns[mark + 1] WHEN p_kind = 'unadmitted' THEN -1998 ELSE 9223372036854775807 END;
    ids := ids || ARRAY(SELECT run_id FROM work WHERE status = 'pending' AND suspicion < 2
      AND (turn, run_id) > (low, after) AND turn < high AND NOT workflow = ANY (lacking)
      ORDER BY turn, run_id LIMIT p_limit - cardinality(ids) FOR UPDATE SKIP LOCKED);
  END LOOP;
  IF p_kind = 'fresh' THEN
    ids := ids || ARRAY(SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at >= since
      AND due_at <= p_now AND NOT workflow = ANY (lacking)
      ORDER BY due_at LIMIT p_limit - cardinality(ids) FOR UPDATE SKIP LOCKED);
  END IF;
  IF cardinality(ids) >= p_limit OR (marks = 0 AND p_due IS NULL) THEN RETURN; END IF;
  is_whole := true;
  ids := ids || ARRAY(SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at < p_due
    AND due_at <= p_now AND NOT workflow = ANY (lacking)
    ORDER BY due_at LIMIT p_limit - cardinality(ids) FOR UPDATE SKIP LOCKED);
  FOR mark IN 1..marks LOOP
    low := p_turns[mark];
    after := p_after[mark];
    ids := ids || ARRAY(SELECT run_id FROM work WHERE status = 'pending' AND suspicion < 2
      AND turn = low AND run_id <= after AND NOT workflow = ANY (lacking)
      ORDER BY turn, run_id LIMIT p_limit - cardinality(ids) FOR UPDATE SKIP LOCKED);
  END LOOP;
  ids := ARRAY(SELECT run_id FROM work WHERE run_id = ANY (ids)
    ORDER BY status = 'pending', CASE status WHEN 'waiting' THEN due_at END, turn, run_id);
END $$;

-- The cause of the run at the top of the invocations above a run, as JSON. Index: primary keys of run and
-- event, once for each invocation. Subqueries have one row: the planner expects many rows of a recursion.
CREATE FUNCTION root_of_1(p_run text) RETURNS text LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  RETURN (SELECT json_build_object('id', top.id, 'workflow', top.workflow, 'tickAt', top.tick_at,
      'schedule', top.schedule, 'event', event.id, 'account', event.account)::text
    FROM run AS top LEFT JOIN event ON event.seq = top.event_seq AND event.stream = top.event_seq % 8
    WHERE top.id = (
      WITH RECURSIVE above (id, parent, level) AS (
        SELECT id, parent_run, 0 FROM run WHERE id = p_run
        UNION ALL SELECT parent, (SELECT parent_run FROM run WHERE run.id = above.parent), level + 1
          FROM above WHERE parent IS NOT NULL AND level < 100)
      SELECT above.id FROM above WHERE above.parent IS NULL));
END $$;

-- A claimed run, as its worker needs it: with its event, and a short journal. `steps` is null for a long one,
-- and results above 4 KB are replaced by their size, as `listSteps` does. Index: primary keys.
CREATE VIEW claimed AS
  SELECT run.id, run.workflow, run.event_seq, run.tick_at, run.schedule, run.input, run.account, run.parent_run, run.depth,
    work.code_hash, work.fence, work.attempt, run.created_at, work.started_at, run.origin, run.handler,
    run.origin_run, run.failure, work.gate_state, work.folded, run.received, run.ends_by,
    CASE WHEN work.fence > 1 OR run.origin_run IS NOT NULL
      THEN (SELECT json_object_agg(name, value)::text FROM run_tag WHERE run_tag.run_id = run.id) END AS tags,
    CASE WHEN run.parent_run IS NOT NULL OR run.input IS NOT NULL THEN root_of_1(run.id) END AS root,
    CASE WHEN work.fence = 1 THEN '[]' ELSE (
      SELECT CASE WHEN count(*) = 0 THEN '[]' WHEN count(*) < 32 AND coalesce(sum(octet_length(output)), 0) <= 16384
        THEN json_agg(known ORDER BY position)::text END
      FROM (SELECT key, position, kind, effect, status, attempt,
          CASE WHEN octet_length(output) <= 4096 THEN output END AS output,
          CASE WHEN octet_length(output) > 4096 THEN octet_length(output) ELSE apart_bytes END AS "apartBytes",
          error, target, started_at AS "startedAt", finished_at AS "finishedAt", due_at AS "dueAt", settled
        FROM step WHERE step.run_id = run.id LIMIT 32) AS known) END AS steps,
    event.*
  FROM run JOIN work ON work.run_id = run.id LEFT JOIN LATERAL (
    SELECT stream AS event_stream, id AS event_id, account AS event_account, type AS event_type, origin AS event_origin,
      created_at AS event_created_at, received_at AS event_received_at, body AS event_body
    FROM full_event WHERE seq = run.event_seq AND stream = run.event_seq % 8 OFFSET 0) AS event ON true;

-- Claims runs. The claim's number finds the runs again whose answer was lost. Where one of the next
-- runs is of a paused workflow, nothing is claimed, and one row without a run says so. `passed_turn`
-- and `passed_due` tell where the next claim may begin. Index: primary keys.
CREATE FUNCTION claim_runs_1(p_kind text, p_worker text, p_limit integer, p_now bigint, p_claim bigint,
  p_turns bigint[], p_after text[], p_due bigint)
RETURNS TABLE (claimed claimed, passed_turn bigint, passed_due bigint, is_whole boolean)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  taken record;
  last_due bigint;
BEGIN
  -- The server may still be at work at the first of two calls, whose rows the second would pass over.
  PERFORM pg_advisory_xact_lock(p_claim);
  -- Where a lost answer stood in the queue is not known any more.
  SELECT ARRAY(SELECT run_id FROM work WHERE worker = p_worker AND status = 'running' AND claim = p_claim
    ORDER BY turn, run_id) AS ids, 0 AS due, true AS is_whole INTO taken;
  IF cardinality(taken.ids) = 0 THEN
    SELECT * INTO taken FROM claimable_1(p_kind, p_worker, p_limit, p_now, p_turns, p_after, p_due);
    IF EXISTS (SELECT 1 FROM workflow_pause)
      AND EXISTS (SELECT 1 FROM work JOIN workflow_pause AS p ON p.workflow = work.workflow
        WHERE run_id = ANY (taken.ids)) THEN
      RETURN NEXT;
      RETURN;
    END IF;
    IF taken.due > 0 THEN
      last_due := (SELECT due_at FROM work WHERE run_id = taken.ids[taken.due]);
    END IF;
    -- A limited run starts when it is admitted, not when it is claimed. One that was made while the claim waited
    -- starts then.
    UPDATE work SET status = 'running', worker = p_worker, claim = p_claim, fence = work.fence + 1, due_at = NULL,
      reason = NULL, awaits = 0,
      started_at = CASE WHEN gate_state IN ('in_line', 'outside') THEN started_at
        ELSE coalesce(started_at, greatest(p_now, (SELECT created_at FROM run WHERE id = work.run_id))) END,
      gate_state = CASE gate_state WHEN 'in_line' THEN 'outside' ELSE gate_state END
      WHERE run_id = ANY (taken.ids);
    PERFORM start_throttle_1(run_id, p_now) FROM work WHERE run_id = ANY (taken.ids) AND gate_state = 'admitted';
  END IF;
  RETURN QUERY
    SELECT run.claimed, CASE WHEN given.number > taken.due THEN run.turn END, last_due, taken.is_whole
    FROM unnest(taken.ids) WITH ORDINALITY AS given (id, number)
      CROSS JOIN LATERAL (SELECT claimed, turn FROM claimed JOIN work ON work.run_id = claimed.id
        WHERE claimed.id = given.id OFFSET 0) AS run
    ORDER BY given.number;
END $$;

-- Records the start of an admitted run: its throttle now counts the start, not the slot.
CREATE FUNCTION start_throttle_1(p_run text, p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  taken record;
BEGIN
  DELETE FROM gate_slot WHERE run_id = p_run AND gate = 'throttle' AND is_held = 1 RETURNING workflow, key INTO taken;
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO throttle_start (workflow, key, until, run_id)
    VALUES (taken.workflow, taken.key, p_now + coalesce(
      (SELECT per_ms FROM gate_rule WHERE workflow = taken.workflow AND gate = 'throttle'), 0), p_run)
    ON CONFLICT DO NOTHING;
  -- Up to 20 rows of any key, so that a key that never comes back leaves nothing behind.
  DELETE FROM throttle_start WHERE (workflow, key, until, run_id) IN (
    SELECT workflow, key, until, run_id FROM throttle_start WHERE until <= p_now ORDER BY until LIMIT 20
    FOR UPDATE SKIP LOCKED);
  -- Nobody knew when the throttle opens as long as the run had not started. A row that another
  -- transaction has locked is at its gate now, and gets its moment there.
  UPDATE work SET due_at = least(opens.at, line.wake_at)
    FROM (SELECT run_id, wake_at FROM gate_slot
        WHERE workflow = taken.workflow AND gate = 'throttle' AND key = taken.key AND is_held = 0
        ORDER BY rank, run_id LIMIT 1) AS line,
      (SELECT until AS at FROM throttle_start WHERE workflow = taken.workflow AND key = taken.key ORDER BY until LIMIT 1
        OFFSET (SELECT greatest(count(*) - (SELECT max_runs FROM gate_rule
            WHERE workflow = taken.workflow AND gate = 'throttle'), 0)
          FROM (SELECT 1 FROM throttle_start WHERE workflow = taken.workflow AND key = taken.key
            UNION ALL SELECT 1 FROM gate_slot WHERE workflow = taken.workflow AND gate = 'throttle' AND key = taken.key
              AND is_held = 1) AS counted)) AS opens
    WHERE work.run_id = (SELECT w.run_id FROM work AS w WHERE w.run_id = line.run_id FOR UPDATE SKIP LOCKED)
      AND status = 'waiting' AND gate_state = 'in_line';
END $$;

-- Locks runs, and those that wait for their ends, in the order of their ids.
CREATE FUNCTION lock_with_parents_1(p_run text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM work
    WHERE run_id = ANY (p_run || ARRAY(SELECT run_id FROM wait WHERE child_run = ANY (p_run)))
    ORDER BY run_id FOR UPDATE;
END $$;

-- Deletes the waits of runs that have ended, and wakes those that invoked them; gives the latter.
-- The caller has locked all of them. Index: primary keys, wait_child.
CREATE FUNCTION resolve_parents_1(p_run text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  parents text[];
  woken text[];
BEGIN
  DELETE FROM wait WHERE run_id = ANY (p_run);
  WITH resolved AS (UPDATE wait SET is_resolved = 1 WHERE child_run = ANY (p_run) AND is_resolved = 0 RETURNING run_id)
    SELECT array_agg(run_id) INTO parents FROM resolved;
  IF parents IS NULL THEN RETURN '{}'; END IF;
  WITH woke AS (UPDATE work SET status = 'pending', due_at = NULL, reason = NULL, awaits = 0
    WHERE run_id = ANY (parents) AND status = 'waiting' AND awaits = 1 RETURNING run_id)
    SELECT coalesce(array_agg(run_id), '{}') INTO woken FROM woke;
  RETURN woken;
END $$;

-- Saves events that steps send, with the runs that they start: `number` counts those of a stream. An
-- event that is known is not saved again. Index: primary keys.
CREATE FUNCTION save_sent_1(p_sends json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  at record;
  base bigint;
  fresh bigint[];
BEGIN
  INSERT INTO event_account (name)
    SELECT DISTINCT account FROM json_to_recordset(p_sends) AS s (account text) ORDER BY account
    ON CONFLICT (name) DO NOTHING;
  FOR at IN SELECT stream, max(number) AS most FROM json_to_recordset(p_sends) AS s (stream integer, number integer)
    GROUP BY stream ORDER BY stream
  LOOP
    UPDATE stream SET seq = stream.seq + 8 * at.most WHERE id = at.stream RETURNING stream.seq - 8 * at.most INTO base;
    WITH saved AS (
      INSERT INTO event_identity (identity, seq, body_hash)
        SELECT identity, base + 8 * number, hash
        FROM json_to_recordset(p_sends) AS s (stream integer, number integer, identity uuid, hash uuid)
        WHERE stream = at.stream ON CONFLICT DO NOTHING RETURNING seq)
      SELECT coalesce(array_agg(seq), '{}') INTO fresh FROM saved;
    INSERT INTO event (stream, seq, id, account, type, origin, created_at, received_at)
      SELECT stream, base + 8 * number, id, account, type, 'send', created, created
      FROM json_to_recordset(p_sends)
        AS s (stream integer, number integer, id text, account text, type text, created bigint)
      WHERE stream = at.stream AND base + 8 * number = ANY (fresh);
    INSERT INTO event_body (received_at, seq, body)
      SELECT created, base + 8 * number, body
      FROM json_to_recordset(p_sends) AS s (stream integer, number integer, body text, created bigint)
      WHERE stream = at.stream AND base + 8 * number = ANY (fresh);
    WITH made AS (
      INSERT INTO run (id, workflow, event_seq, created_at, depth)
        SELECT r.id, r.workflow, base + 8 * number, created, depth
        FROM json_to_recordset(p_sends) AS s (stream integer, number integer, created bigint, depth bigint, runs json),
          json_to_recordset(runs) AS r (id text, workflow text)
        WHERE stream = at.stream AND base + 8 * number = ANY (fresh) RETURNING id, workflow)
      INSERT INTO work (run_id, workflow, status, rank)
        SELECT id, workflow, 'pending', -coalesce((SELECT priority FROM workflow WHERE workflow.id = made.workflow), 0)
        FROM made;
  END LOOP;
END $$;

-- Makes the runs that steps invoke, and the waits for them; `parent` names the run of the step. One that
-- is there already is not made again. Index: primary keys.
CREATE FUNCTION save_invoked_1(p_invokes json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH made AS (
    INSERT INTO run (id, workflow, input, account, parent_run, parent_step, since_seq, created_at, outlives, ends_by,
        depth)
      SELECT i.run, i.workflow, i.input, i.account, i.parent, i.step,
        (SELECT seq FROM stream WHERE stream.id = stream_of(i.account)), i.created, i.outlives, i.ends, 100 + parent.depth
      FROM json_to_recordset(p_invokes) AS i (run text, workflow text, input text, account text, parent text, step text,
        created bigint, outlives bigint, ends bigint) CROSS JOIN LATERAL (SELECT depth FROM run WHERE id = i.parent OFFSET 0) AS parent
      ON CONFLICT (id) DO NOTHING RETURNING id, workflow)
    INSERT INTO work (run_id, workflow, status, rank)
      SELECT id, workflow, 'pending', -coalesce((SELECT priority FROM workflow WHERE workflow.id = made.workflow), 0)
      FROM made;
  INSERT INTO wait (run_id, key, child_run)
    SELECT i.parent, i.step, i.run FROM json_to_recordset(p_invokes) AS i (run text, parent text, step text)
    ON CONFLICT (run_id, key) DO NOTHING;
END $$;

-- Writes the ends of writes into the ledger: as the end of what begun there, or as the only row. One that
-- is there already is not written again. Seals wait for the lock: the rows below a number that they cover
-- are all committed. Index: primary keys, effect_run.
CREATE FUNCTION end_writes_1(p_ends json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('["ledger"] ' || current_schema(), 0));
  INSERT INTO effect (at, phase, of_seq, class, operation, account, target, path, bytes, workflow, run_id, step,
      event_seq, code, approval, actor, outcome, proof, error)
    SELECT e.at, 'ended', begun.seq, begun.class, e.operation, begun.account, begun.target, begun.path, begun.bytes,
      begun.workflow, e.run, e.step, begun.event_seq, begun.code, begun.approval, begun.actor, e.outcome, e.proof, e.error
    FROM json_to_recordset(p_ends) AS e (run text, step text, at bigint, operation text, outcome text, proof text,
        error text)
      CROSS JOIN LATERAL (SELECT effect_seq FROM step WHERE run_id = e.run AND key = e.step OFFSET 0) AS step
      CROSS JOIN LATERAL (SELECT * FROM effect WHERE seq = step.effect_seq OFFSET 0) AS begun
    WHERE NOT EXISTS (SELECT 1 FROM effect AS known WHERE known.run_id = e.run AND known.at = e.at
      AND known.of_seq = begun.seq OFFSET 0);
  INSERT INTO effect (at, phase, class, operation, account, target, workflow, run_id, step, event_seq, code, asked,
      outcome, proof, error)
    SELECT e.at, 'done', 'write', e.operation, coalesce((SELECT event.account FROM event
        WHERE event.seq = run.event_seq AND event.stream = run.event_seq % 8), run.account, 'default'),
      e.target, run.workflow, run.id, e.step, run.event_seq, work.code_hash, e.input, e.outcome, e.proof, e.error
    FROM json_to_recordset(p_ends) AS e (run text, step text, at bigint, operation text, outcome text, proof text,
        error text, target text, input text, "hasRow" boolean)
      CROSS JOIN LATERAL (SELECT effect_seq FROM step WHERE run_id = e.run AND key = e.step OFFSET 0) AS step
      CROSS JOIN LATERAL (SELECT * FROM run WHERE id = e.run OFFSET 0) AS run
      CROSS JOIN LATERAL (SELECT code_hash FROM work WHERE run_id = e.run OFFSET 0) AS work
    -- Retention may have taken the beginning.
    WHERE (step.effect_seq IS NULL AND e."hasRow" OR step.effect_seq IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM effect AS begun WHERE begun.seq = step.effect_seq OFFSET 0))
      AND NOT EXISTS (SELECT 1 FROM effect AS known WHERE known.run_id = e.run AND known.at = e.at
        AND known.step = e.step AND known.phase = 'done' OFFSET 0);
END $$;

-- Begins writes that no limit bounds, each under its own lease, and counts them: `uses` are their counters. The
-- verdict of a write: `granted`; `more` where a stop, a person or an earlier pass has a say, so that nothing is
-- written; `stale`. A begun write whose answer was lost is known by its moment. Decisions by limits wait for
-- the lock, and so does a stop. Index: primary keys, approval_item_step.
CREATE FUNCTION begin_writes_1(p_run text[], p_fence bigint[], p_era text[], p_begins json)
RETURNS TABLE (number integer, verdict text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  present text := era_1();
  held integer[];
  known integer[];
  plain integer[] := '{}';
  use record;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('["effects"] ' || current_schema(), 0));
  held := ARRAY(SELECT number FROM (SELECT * FROM unnest(p_run, p_fence, p_era) WITH ORDINALITY
    AS lease (run, fence, era, number) ORDER BY run) AS given CROSS JOIN LATERAL (SELECT FROM work
    WHERE run_id = given.run AND fence = given.fence AND status = 'running' AND coalesce(given.era, present) = present
    FOR UPDATE) AS held);
  known := ARRAY(SELECT b.lease FROM json_to_recordset(p_begins) AS b (lease integer, key text, attempt bigint, started bigint)
    WHERE EXISTS (SELECT 1 FROM step WHERE run_id = p_run[b.lease] AND step.key = b.key AND effect_seq IS NOT NULL
      AND step.attempt = b.attempt AND started_at = b.started AND finished_at IS NULL OFFSET 0));
  IF NOT EXISTS (SELECT 1 FROM effect_stop) THEN
    plain := ARRAY(SELECT b.lease FROM json_to_recordset(p_begins) AS b (lease integer, key text)
      WHERE b.lease = ANY (held)
        AND NOT EXISTS (SELECT 1 FROM step
          WHERE run_id = p_run[b.lease] AND step.key = b.key AND effect_seq IS NOT NULL OFFSET 0)
        AND NOT EXISTS (SELECT 1 FROM approval_item WHERE run_id = p_run[b.lease] AND step = b.key OFFSET 0)
        AND NOT EXISTS (SELECT 1 FROM guard_reserved WHERE run_id = p_run[b.lease] OFFSET 0));
  END IF;
  IF cardinality(plain) > 0 THEN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('["ledger"] ' || current_schema(), 0));
    UPDATE work SET code_hash = b.code FROM json_to_recordset(p_begins) AS b (lease integer, code text)
      WHERE b.code IS NOT NULL AND b.lease = ANY (plain) AND work.run_id = p_run[b.lease] AND work.run_id = ANY (p_run);
    DELETE FROM wait USING json_to_recordset(p_begins) AS b (lease integer, key text)
      WHERE b.lease = ANY (plain) AND wait.run_id = p_run[b.lease] AND wait.key = b.key AND wait.run_id = ANY (p_run);
    WITH begun AS (
      INSERT INTO effect (at, phase, class, operation, account, target, path, bytes, workflow, run_id, step, event_seq,
          code, asked, expect)
        SELECT b.now, 'begun', 'write', b.operation, b.account, b.target, b.path, b.bytes, b.workflow, run.id, b.key,
          run.event_seq, work.code_hash, b.asked, b.expect
        FROM json_to_recordset(p_begins) AS b (lease integer, key text, now bigint, operation text, account text,
          target text, path text, bytes bigint, workflow text, asked text, expect text)
          CROSS JOIN LATERAL (SELECT * FROM run WHERE id = p_run[b.lease] OFFSET 0) AS run
          CROSS JOIN LATERAL (SELECT code_hash FROM work WHERE run_id = run.id OFFSET 0) AS work
        WHERE b.lease = ANY (plain) RETURNING seq, run_id, step)
    INSERT INTO step (run_id, key, position, kind, effect, status, attempt, error, started_at, finished_at, target,
        due_at, settled, effect_seq, permits)
      SELECT p_run[b.lease], b.key, b.position, b.kind, b.effect, b.status, b.attempt, b.error, b.started, NULL, b.target,
        b.due, b.settled, begun.seq, 1
      FROM json_to_recordset(p_begins) AS b (lease integer, key text, position bigint, kind text, effect text, status text,
        attempt bigint, error text, started bigint, target text, due bigint, settled bigint)
        JOIN begun ON begun.run_id = p_run[b.lease] AND begun.step = b.key
      ON CONFLICT (run_id, key) DO UPDATE SET status = excluded.status, attempt = excluded.attempt, output = NULL,
        finished_at = NULL, apart_bytes = NULL, error = excluded.error, target = excluded.target,
        due_at = excluded.due_at, settled = excluded.settled, effect_seq = excluded.effect_seq, permits = 1;
    -- Each counter once, in one order, so that no two calls wait for each other.
    FOR use IN
      WITH given AS (
        SELECT u.scope, u.width, u.bucket, max(u.oldest) AS oldest, count(*) AS count, sum(b.bytes)::bigint AS bytes
        FROM json_to_recordset(p_begins) AS b (lease integer, bytes bigint, uses json),
          json_to_recordset(b.uses) AS u (scope text, width bigint, bucket bigint, oldest bigint)
        WHERE b.lease = ANY (plain) GROUP BY u.scope, u.width, u.bucket ORDER BY u.scope, u.width, u.bucket),
      added AS (
        INSERT INTO guard_use (scope, class, width, bucket, count, bytes)
          SELECT scope, 'write', width, bucket, count, coalesce(bytes, 0) FROM given
          ON CONFLICT (scope, class, width, bucket) DO UPDATE SET count = guard_use.count + excluded.count,
            bytes = guard_use.bytes + excluded.bytes RETURNING scope, width, bucket, count)
      SELECT given.* FROM added JOIN given USING (scope, width, bucket) WHERE added.count = given.count AND width > 0
    LOOP
      -- A new bucket: those that no window reads any more can go.
      DELETE FROM guard_use WHERE scope = use.scope AND class = 'write' AND width = use.width AND bucket < use.oldest
        AND bucket < (SELECT kept.bucket FROM guard_use AS kept WHERE kept.scope = use.scope AND kept.class = 'write'
          AND kept.width = use.width ORDER BY kept.bucket DESC LIMIT 1 OFFSET 50);
    END LOOP;
  END IF;
  RETURN QUERY SELECT g, CASE WHEN NOT g = ANY (held) THEN 'stale'
      WHEN g = ANY (plain) OR g = ANY (known) THEN 'granted' ELSE 'more' END
    FROM generate_series(1, cardinality(p_run)) AS g;
END $$;

-- Saves steps, with what they send and invoke, and parks and ends runs. `p_run`, `p_fence` and `p_era` are the
-- leases, which all else names by number (`lease` in JSON). The verdict of a lease: `held`; `done` where its run
-- ended; `woke` where another run goes on besides; `more` where its park or end has further effects, so that only
-- its steps are saved; `stale`. A limited run that ends gives its slots on: where `p_claim` has a number, the next
-- run is claimed by it for its worker, and given in a row of its own. The locks last to the commit, so that nobody
-- takes a run over in between. Index: primary keys, wait_child, gate_slot_run, gathering_run.
CREATE FUNCTION save_journal_1(
  p_run text[], p_fence bigint[], p_era text[],
  p_lease integer[], p_key text[], p_position bigint[], p_kind text[], p_effect text[], p_status text[],
  p_attempt bigint[], p_output text[], p_started bigint[], p_finished bigint[], p_apart bigint[], p_error text[],
  p_target text[], p_due bigint[], p_settled bigint[], p_code text[], p_ended_wait boolean[],
  p_ended integer[], p_result text[], p_at bigint[], p_sends json, p_invokes json, p_writes json,
  p_parks json, p_worker text[], p_claim bigint[]
) RETURNS TABLE (number integer, verdict text, next claimed)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  held integer[];
  ended text[] := '{}';
  admitted text[] := '{}';
  is_limited boolean := false;
  is_heard boolean := false;
  parking integer[] := ARRAY(SELECT lease FROM json_to_recordset(p_parks) AS p (lease integer));
  parked integer[] := '{}';
  present text := era_1();
  has_ends boolean := cardinality(p_ended) > 0;
BEGIN
  IF has_ends OR p_parks IS NOT NULL THEN
    PERFORM lock_with_parents_1(p_run);
    held := ARRAY(SELECT number FROM unnest(p_run, p_fence, p_era) WITH ORDINALITY AS given (run, fence, era, number)
      CROSS JOIN LATERAL (SELECT FROM work WHERE run_id = given.run AND fence = given.fence AND status = 'running'
        AND coalesce(given.era, present) = present OFFSET 0) AS held);
  ELSE
    held := ARRAY(SELECT number FROM (SELECT * FROM unnest(p_run, p_fence, p_era) WITH ORDINALITY
      AS lease (run, fence, era, number) ORDER BY run) AS given CROSS JOIN LATERAL (SELECT FROM work
      WHERE run_id = given.run AND fence = given.fence AND status = 'running' AND coalesce(given.era, present) = present
      FOR SHARE) AS held);
  END IF;
  IF cardinality(p_lease) > 0 THEN
    INSERT INTO step (run_id, key, position, kind, effect, status, attempt, output, started_at, finished_at, apart_bytes,
        error, target, due_at, settled)
      SELECT p_run[t.lease], t.key, t.position, t.kind, t.effect, t.status, t.attempt, t.output, t.started, t.finished,
        t.apart, t.error, t.target, t.due, t.settled
      FROM unnest(p_lease, p_key, p_position, p_kind, p_effect, p_status, p_attempt, p_output, p_started, p_finished,
        p_apart, p_error, p_target, p_due, p_settled)
        AS t (lease, key, position, kind, effect, status, attempt, output, started, finished, apart, error, target, due,
          settled)
      WHERE t.lease = ANY (held)
      ON CONFLICT (run_id, key) DO UPDATE SET status = excluded.status, attempt = excluded.attempt,
        output = excluded.output, finished_at = excluded.finished_at, apart_bytes = excluded.apart_bytes,
        error = excluded.error, target = excluded.target, due_at = excluded.due_at, settled = excluded.settled;
    UPDATE work SET code_hash = t.code FROM unnest(p_lease, p_code) AS t (lease, code)
      WHERE t.code IS NOT NULL AND t.lease = ANY (held) AND work.run_id = p_run[t.lease] AND work.run_id = ANY (p_run);
    IF true = ANY (p_ended_wait) THEN
      DELETE FROM wait USING unnest(p_lease, p_key, p_ended_wait) AS t (lease, key, ended)
        WHERE t.ended AND t.lease = ANY (held) AND wait.run_id = p_run[t.lease] AND wait.key = t.key;
    END IF;
    IF p_sends IS NOT NULL THEN
      PERFORM save_sent_1(json_agg(given)) FROM json_array_elements(p_sends) AS given
        WHERE (given ->> 'lease')::integer = ANY (held) HAVING count(*) > 0;
    END IF;
    IF p_invokes IS NOT NULL THEN
      PERFORM save_invoked_1(json_agg(given)) FROM json_array_elements(p_invokes) AS given
        WHERE (given ->> 'lease')::integer = ANY (held) HAVING count(*) > 0;
    END IF;
    IF p_writes IS NOT NULL THEN
      PERFORM end_writes_1(json_agg(given)) FROM json_array_elements(p_writes) AS given
        WHERE (given ->> 'lease')::integer = ANY (held) HAVING count(*) > 0;
    END IF;
  END IF;
  -- A run with a limit gives its slots back, which is no plain park. One is pending at once if something
  -- that it awaits came during its pass.
  IF p_parks IS NOT NULL THEN
    WITH asleep AS (
      UPDATE work SET status = CASE WHEN p.is_over THEN 'pending' ELSE 'waiting' END,
        due_at = CASE WHEN NOT p.is_over THEN p.due END, reason = CASE WHEN NOT p.is_over THEN p.reason END,
        awaits = (NOT p.is_over AND p.awaits <> '{}')::int, worker = NULL, claim = p.call, crashes = 0, suspicion = 0,
        started_at = CASE WHEN p.is_over OR NOT p.unstarted THEN started_at END
      FROM (SELECT given.*, EXISTS (SELECT 1 FROM wait WHERE wait.run_id = p_run[given.lease]
          AND wait.key = ANY (given.awaits) AND (wait.is_resolved = 1 OR wait.round < (SELECT asking_again.round
            FROM asking_again WHERE what = CASE wait.approval WHEN 'stop' THEN 'stop' ELSE 'guard' END)) OFFSET 0) AS is_over
        FROM json_to_recordset(p_parks)
          AS given (lease integer, call bigint, due bigint, reason text, awaits text[], unstarted boolean)) AS p
      WHERE p.lease = ANY (held) AND work.run_id = p_run[p.lease] AND work.run_id = ANY (p_run)
        AND work.gate_state IS NULL RETURNING p.lease)
      SELECT coalesce(array_agg(lease), '{}') INTO parked FROM asleep;
  END IF;
  -- Without ticks, questions to people, and slots whose end lets runs in at a throttle: its lines are moments.
  IF has_ends THEN
    ended := ARRAY(SELECT work.run_id FROM unnest(p_ended) AS given (number)
      CROSS JOIN LATERAL (SELECT * FROM work WHERE run_id = p_run[given.number] OFFSET 0) AS work
      WHERE given.number = ANY (held) AND work.tick_at IS NULL
        AND (work.gate_state IS NULL OR NOT EXISTS (SELECT 1 FROM gate_slot AS s JOIN gate_rule AS r
          ON r.workflow = s.workflow AND r.gate = 'throttle'
          WHERE s.run_id = work.run_id AND s.gate IN ('singleton', 'throttle') OFFSET 0))
        AND NOT EXISTS (SELECT 1 FROM wait WHERE wait.run_id = work.run_id
          AND (wait.approval IS NOT NULL OR wait.key = '#reserved') OFFSET 0));
    WITH gone AS (DELETE FROM work WHERE run_id = ANY (ended) RETURNING *),
    saved AS (INSERT INTO outcome (run_id, workflow, status, rank, fence, attempt, started_at, finished_at, code_hash,
        output, error, gates, gate_state, folded)
      SELECT gone.run_id, gone.workflow, 'completed', gone.rank, gone.fence, gone.attempt, gone.started_at, given.at,
        gone.code_hash, given.result, gone.error, gone.gates, CASE WHEN gone.gate_state IS NOT NULL THEN 'outside' END,
        gone.folded
      FROM gone JOIN unnest(p_ended, p_result, p_at) AS given (number, result, at)
        ON gone.run_id = p_run[given.number] AND given.number = ANY (held)
      RETURNING gate_state)
      SELECT count(gate_state) > 0 INTO is_limited FROM saved;
    PERFORM mark_hours_1(ended, p_at[1]);
    is_heard := resolve_parents_1(ended) <> '{}';
  END IF;
  IF is_limited THEN
    DELETE FROM gathering WHERE run_id = ANY (ended);
    WITH freed AS (DELETE FROM gate_slot WHERE run_id = ANY (ended) RETURNING workflow, gate, key)
      SELECT advance_gates_1(array_agg(workflow), array_agg(gate), array_agg(key)) INTO admitted
        FROM freed HAVING count(*) > 0;
    IF admitted <> '{}' THEN
      is_heard := hand_on_1(admitted, ARRAY(SELECT p_run[g] FROM unnest(p_ended) AS g), p_worker,
        ARRAY(SELECT CASE WHEN p_run[g] = ANY (ended) AND g = ANY (held) THEN number END
          FROM unnest(p_ended, p_claim) AS given (g, number)), p_at) < cardinality(admitted) OR is_heard;
    END IF;
  END IF;
  RETURN QUERY SELECT g, CASE
    WHEN g = ANY (held) THEN CASE WHEN p_run[g] = ANY (ended) THEN CASE WHEN is_heard THEN 'woke' ELSE 'done' END
      WHEN g = ANY (p_ended) OR g = ANY (parking) AND NOT g = ANY (parked) THEN 'more' ELSE 'held' END
    -- Ended by this call, whose answer was lost.
    WHEN g = ANY (p_ended) AND EXISTS (SELECT 1 FROM outcome
      WHERE run_id = p_run[g] AND fence = p_fence[g] AND status = 'completed') THEN 'woke'
    -- Parked by this call, whose answer was lost.
    WHEN g = ANY (parking) AND EXISTS (SELECT 1 FROM json_to_recordset(p_parks) AS p (lease integer, call bigint)
      WHERE p.lease = g AND EXISTS (SELECT 1 FROM work
        WHERE run_id = p_run[g] AND fence = p_fence[g] AND claim = p.call OFFSET 0)) THEN 'held'
    ELSE 'stale' END, NULL::claimed
    FROM generate_series(1, cardinality(p_run)) AS g;
  IF cardinality(array_remove(p_claim, NULL)) > 0 THEN
    RETURN QUERY SELECT given.number, NULL, run.claimed
      FROM unnest(p_ended, p_worker, p_claim) AS given (number, worker, claim)
        CROSS JOIN LATERAL (SELECT run_id FROM work
          WHERE status = 'running' AND worker = given.worker AND claim = given.claim OFFSET 0) AS mine
        CROSS JOIN LATERAL (SELECT claimed FROM claimed WHERE id = mine.run_id OFFSET 0) AS run;
  END IF;
END $$;

-- Marks the hours of runs that ended in a later hour than that of their making, to be counted again.
-- A version begins anywhere: none is that of a mark before.
CREATE FUNCTION mark_hours_1(p_run text[], p_at bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_hour_mark (hour, version)
  SELECT hour, 1 + floor(random() * 1e15)::bigint FROM (SELECT DISTINCT created_at / 3600000 AS hour FROM run
    WHERE id = ANY (p_run) AND (p_at IS NULL OR p_at / 3600000 > created_at / 3600000)) AS late
  ORDER BY 1
  ON CONFLICT (hour) DO UPDATE SET version = run_hour_mark.version + 1;
END $$;
