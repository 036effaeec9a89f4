import type { Dialect } from '../../dialect.ts'

/** Rows that belong to a run. Those of a pruned one may be left, and go next. */
const ofRun = (table: string) => `SELECT DISTINCT run_id FROM ${table} WHERE NOT EXISTS (
    SELECT 1 FROM run WHERE run.id = ${table}.run_id)
  AND NOT EXISTS (SELECT 1 FROM pruned_run WHERE pruned_run.run_id = ${table}.run_id)`

/** Statements that give the faults of rows, on both databases. They read whole tables. */
export const rowChecks = ({ isEvent }: Dialect): Record<string, string> => ({
  'every run has its event': `SELECT id FROM run WHERE event_seq IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM event WHERE ${isEvent('run.event_seq')})`,
  'every run is in the queue or has an end, and not both': `SELECT run.id FROM run
    LEFT JOIN work ON work.run_id = run.id LEFT JOIN outcome ON outcome.run_id = run.id
    WHERE (work.run_id IS NULL) = (outcome.run_id IS NULL)`,
  'every row of the queue has its run': `SELECT run_id FROM work WHERE NOT EXISTS (
    SELECT 1 FROM run WHERE run.id = work.run_id)`,
  'every end has its run': `SELECT run_id FROM outcome WHERE NOT EXISTS (
    SELECT 1 FROM run WHERE run.id = outcome.run_id)`,
  'every run at work has a worker': `SELECT run_id FROM work WHERE status = 'running' AND worker IS NULL`,
  'every step has its run': ofRun('step'),
  'every failed attempt has its run': ofRun('step_failure'),
  'every log line has its run': ofRun('run_log'),
  'every large result is there': `SELECT run_id FROM step WHERE apart_bytes IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM large_output AS large WHERE large.run_id = step.run_id AND large.key = step.key)`,
  'every slot belongs to an unfinished run': `SELECT run_id FROM gate_slot WHERE NOT EXISTS (
    SELECT 1 FROM work WHERE work.run_id = gate_slot.run_id)`,
  'every wait belongs to an unfinished run': `SELECT run_id FROM wait WHERE NOT EXISTS (
      SELECT 1 FROM work WHERE work.run_id = wait.run_id)
    AND NOT EXISTS (SELECT 1 FROM withdrawal WHERE withdrawal.run_id = wait.run_id)`,
})

/** Faults that a statement gives at most. */
export const MAX_FAULTS = 20
