import { firstId, newId } from '../../../core/ids.ts'
import {
  type AuditEntry,
  type AuditFilter,
  type AuditOutcome,
  type AuditRecord,
  LASTING_TARGET,
} from '../../../core/safety/audit.ts'
import { Table } from '../../connection.ts'
import { buildWhere, given } from '../../rows/build-where.ts'

interface AuditRow extends Omit<AuditRecord, 'from' | 'parameters'> {
  origin: string
  parameters: string
}

/** The audit log. Its rows are appended; a trigger refuses to change one. */
export class AuditTable extends Table {
  readonly #add = this.db.prepare(
    `INSERT INTO audit (id, at, actor, role, origin, action, target, reason, parameters, outcome, error)
     VALUES (@id, @at, @actor, @role, @origin, @action, @target, @reason, @parameters, @outcome, @error)`,
  )

  /** Appends the row of an action outside the store's own writes; returns its id. */
  async recordAction(entry: AuditEntry, outcome: AuditOutcome, error: string | null = null): Promise<string> {
    const { from: origin, parameters, ...rest } = entry
    const id = newId('aud', entry.at)
    await this.#add.run({ ...rest, id, origin, parameters: JSON.stringify(parameters), outcome, error })
    return id
  }

  /** Newest first. Index: primary key backwards, or audit_target. */
  async listActions({ limit, ...filter }: AuditFilter & { limit: number }): Promise<AuditRecord[]> {
    const { where, values } = describeFilter(filter)
    const rows = this.db.prepare<unknown[], AuditRow>(`SELECT * FROM audit ${where} ORDER BY id DESC LIMIT ?`)
    return (await rows.all(...values, limit)).map(({ origin, parameters, ...row }) => ({
      ...row,
      from: origin,
      parameters: JSON.parse(parameters),
    }))
  }

  /** Deletes up to `limit` rows that are older than the moment. Index: primary key. */
  readonly prune = this.countChanged(
    `DELETE FROM audit WHERE id IN (
       SELECT id FROM audit WHERE id < ? AND target IS DISTINCT FROM '${LASTING_TARGET}' ORDER BY id LIMIT ?)`,
    (before: number, limit: number) => [firstId('aud', before), limit],
  )
}

function describeFilter({ actor, action, target, since, until, before }: AuditFilter) {
  const conditions = given({ 'id < ?': before, 'target = ?': target, 'actor = ?': actor })
  if (since !== undefined) conditions.push(['id >= ?', firstId('aud', since)])
  if (until !== undefined) conditions.push(['id < ?', firstId('aud', until)])
  // "/" is the character after "." in ASCII: every action of the group lies between.
  if (action?.endsWith('.*'))
    conditions.push(['action > ?', action.slice(0, -1)], ['action < ?', action.replace('.*', '/')])
  else if (action !== undefined) conditions.push(['action = ?', action])
  return buildWhere(conditions)
}
