import type { Database } from 'better-sqlite3'

/** Reads the version of endpoints, workflows and routes together. Exact within a transaction. */
export function openSetupVersion(db: Database): () => number {
  // Each table has one row. Both versions only rise, so their sum differs after any change.
  const read = db
    .prepare<[], number>(
      'SELECT endpoint_version.version + workflow_version.version FROM endpoint_version, workflow_version',
    )
    .pluck()
  return () => read.get() ?? 0
}
