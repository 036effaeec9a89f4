import type { Database } from 'better-sqlite3'

/** Lets this connection insert whole runs into `full_run`, and each goes to where it belongs. */
export function acceptWholeRuns(db: Database): void {
  db.exec(`CREATE TEMP TRIGGER whole_run INSTEAD OF INSERT ON full_run BEGIN
    INSERT INTO run (id, workflow, event_seq, created_at)
      VALUES (NEW.id, NEW.workflow, NEW.event_seq, NEW.created_at);
    INSERT INTO work (run_id, workflow, status, reason, due_at, awaits, fence, started_at)
      SELECT NEW.id, NEW.workflow, NEW.status, NEW.reason, NEW.due_at, coalesce(NEW.awaits, 0), NEW.fence,
        NEW.started_at
      WHERE NEW.finished_at IS NULL;
    INSERT INTO outcome (run_id, workflow, status, reason, rank, fence, attempt, started_at, finished_at, output, error)
      SELECT NEW.id, NEW.workflow, NEW.status, NEW.reason, 0, NEW.fence, 0, NEW.started_at, NEW.finished_at, NEW.output,
        NEW.error
      WHERE NEW.finished_at IS NOT NULL;
  END`)
}
