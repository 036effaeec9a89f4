/** Puts a new run into the queue, with the priority of its workflow. Index: primary keys. */
export const QUEUE_RUN = `INSERT INTO work (run_id, workflow, status, rank)
  SELECT id, workflow, 'pending', -coalesce((SELECT priority FROM workflow WHERE workflow.id = run.workflow), 0)
  FROM run WHERE id = ?`
