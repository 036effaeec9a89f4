import { type Connection, Table } from '../../connection.ts'

/** Steps and other rows of pruned runs, which go after them. */
export class RestPruning extends Table {
  readonly #sql = prepareRests(this.db)

  /** Notes runs whose rows are to go. Index: primary keys. */
  readonly add = this.write<[ids: string[]]>(
    `INSERT INTO pruned_run (run_id) SELECT id FROM run WHERE ${this.db.sql.isOneOf('id', 'text')}
     ON CONFLICT DO NOTHING`,
  )

  /** Deletes rows of pruned runs, from `first` on. Returns how many; `limit`: some are left. */
  async prune(limit: number, first?: string[]): Promise<number> {
    let rows = 0
    let known = first
    while (rows < limit) {
      const ids = known ?? (await this.#sql.list.all(limit - rows))
      known = undefined
      if (ids.length === 0) return rows
      for (const part of this.#sql.parts) {
        rows += (await part(ids, limit - rows)).changes
        if (rows >= limit) return limit
      }
      rows += (await this.#sql.remove.run(ids)).changes
    }
    return limit
  }
}

/** A run with the step of a hook. */
const HOLDER = `(SELECT step.run_id FROM step WHERE step.kind = 'hook' AND step.target = hook.id LIMIT 1)`

/** Rows of pruned runs, by key. Index: primary keys; step_failure_run, hook_run. */
function prepareRests(db: Connection) {
  const isOneOf = (column: string) => db.sql.isOneOf(column, 'text')
  const prepare = (text: string) => {
    const statement = db.prepare<[string[], string[], number]>(text)
    return (ids: string[], limit: number) => statement.run(ids, ids, limit)
  }
  // `0` follows `/`, behind which the scope has a storage and folders.
  const counters = db.prepare<[string[], number]>(
    `DELETE FROM guard_use WHERE (scope, class, width, bucket) IN
       (SELECT scope, class, width, bucket FROM pruned_run JOIN guard_use
          ON scope >= 'run/' || run_id AND scope < 'run/' || run_id || '0'
        WHERE ${isOneOf('run_id')} LIMIT ?)`,
  )
  const part = (table: string, key: string) =>
    prepare(
      `DELETE FROM ${table} WHERE ${isOneOf('run_id')} AND (run_id, ${key}) IN
         (SELECT run_id, ${key} FROM ${table} WHERE ${isOneOf('run_id')} LIMIT ?)`,
    )
  return {
    // Those that another process deletes now are left to that.
    list: db.pluck<[number], string>(`SELECT run_id FROM pruned_run LIMIT ? ${db.sql.skipLocked}`),
    remove: db.prepare<[string[]]>(`DELETE FROM pruned_run WHERE ${isOneOf('run_id')}`),
    parts: [
      part('step', 'key'),
      prepareOutputs(db),
      part('step_failure', 'number'),
      part('run_log', 'number'),
      part('run_tag', 'name'),
      part('run_progress', 'run_id'),
      // A hook whose step another run has, as a fork does, stays for that one. Index: step_hook.
      prepare(
        `UPDATE hook SET run_id = ${HOLDER}
         WHERE ${isOneOf('run_id')} AND id IN (
           SELECT id FROM hook WHERE ${isOneOf('run_id')} AND ${HOLDER} IS NOT NULL LIMIT ?)`,
      ),
      // Before the hooks, by which they are found.
      prepare(
        `DELETE FROM hook_answer WHERE hook IN (SELECT id FROM hook WHERE ${isOneOf('run_id')})
           AND (hook, event_seq) IN (SELECT hook, event_seq FROM hook_answer
             JOIN hook ON hook.id = hook_answer.hook WHERE ${isOneOf('run_id')} LIMIT ?)`,
      ),
      part('hook', 'id'),
      (ids: string[], limit: number) => counters.run(ids, limit),
    ],
  }
}

/** Large outputs of pruned runs, in the order of their primary key, as many as fit into a slice. */
function prepareOutputs(db: Connection) {
  const ofRuns = db.sql.isOneOf('run_id', 'text')
  const list = db.prepare<[string[], number], { runId: string; key: string; bytes: number }>(
    `SELECT run_id, key, octet_length(packed) AS bytes FROM large_output WHERE ${ofRuns}
     ORDER BY run_id, key LIMIT ?`,
  )
  const remove = db.prepare<[string[], string, string]>(
    `DELETE FROM large_output WHERE ${ofRuns} AND (run_id, key) <= (CAST(? AS text), CAST(? AS text))`,
  )
  return async (ids: string[], limit: number) => {
    const found = await list.all(ids, limit)
    const fitting = found.slice(0, countFitting(found))
    const last = fitting.at(-1)
    if (last) await remove.run(ids, last.runId, last.key)
    return { changes: fitting.length < found.length ? limit : fitting.length }
  }
}

/**
 * Bodies, inputs or outputs that one slice removes at most. Hashing takes about 2 ms per megabyte
 * of bodies. SQLite reads each page of a text to free it.
 */
const MAX_SLICE_BYTES = 4 * 1024 * 1024

/** How many texts fit into a slice by their sizes; at least one. */
export function countFitting(texts: readonly { bytes: number }[]): number {
  let bytes = 0
  for (const [index, text] of texts.entries()) {
    bytes += text.bytes
    if (bytes > MAX_SLICE_BYTES && index > 0) return index
  }
  return texts.length
}
