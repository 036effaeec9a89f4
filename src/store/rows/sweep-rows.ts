import type { StorageName } from '../../core/service/storage.ts'
import type { FindingQuery, KeptSweep } from '../../core/store/health/sweeps.ts'
import { buildWhere, type Condition } from './build-where.ts'

export interface SweepRow {
  id: number
  account: string
  storage: StorageName
  state: string
  version: number
}

/** Bits of `known_file.judged`. A folder has all of them. */
export const JUDGED = { arrival: 1, departure: 2, folder: 7 } as const

const FILE_COLUMNS = `file, path, size, created_at AS createdAt, modified_at AS modifiedAt, first_sweep AS firstSweep,
  last_sweep AS lastSweep, first_seen_at AS firstSeenAt, gone_at AS goneAt`

const FINDING_COLUMNS = `account, storage, file, type, state, sweep, found_at AS foundAt, path, entry, reason, approval,
  event, late_event AS lateEvent`

/** The files of a storage before which a slice ends. */
const SLICE = 'sweep = @sweep AND file > @after AND file <= @upTo'

function toldBy(what: 'created' | 'deleted'): string {
  return `EXISTS (SELECT 1 FROM file_event AS told WHERE told.account = @account AND told.storage = @storage
    AND told.file = known_file.file AND told.type = 'file.${what}')`
}

/** Statements of both databases. Index: primary keys, except where one is named. */
export const SWEEP_SQL = {
  find: 'SELECT id, account, storage, state, version FROM sweep WHERE account = ? AND storage = ?',
  list: 'SELECT id, account, storage, state, version FROM sweep ORDER BY account, storage',
  insert: `INSERT INTO sweep (account, storage, state, version) VALUES (?, ?, ?, 1)
    ON CONFLICT (account, storage) DO NOTHING`,
  update: `UPDATE sweep SET state = ?, version = version + 1 WHERE account = ? AND storage = ? AND version = ?`,
  known: 'SELECT first_sweep AS firstSweep, last_sweep AS lastSweep FROM known_file WHERE sweep = ? AND file = ?',
  see: `INSERT INTO known_file
      (sweep, file, path, size, created_at, modified_at, first_sweep, last_sweep, first_seen_at,
       judged)
    VALUES (@sweep, @file, @path, @size, @createdAt, @modifiedAt, @number, @number, @now, @judged)
    ON CONFLICT (sweep, file) DO UPDATE SET path = @path, size = @size, created_at = @createdAt,
      modified_at = @modifiedAt, last_sweep = @number, gone_at = NULL`,
  judge: 'UPDATE known_file SET judged = judged | ? WHERE sweep = ? AND file = ?',
  stay: 'UPDATE known_file SET last_sweep = ?, gone_at = NULL WHERE sweep = ? AND file = ?',
  leave: 'UPDATE known_file SET gone_at = ? WHERE sweep = ? AND file = ?',
  boundary: 'SELECT file FROM known_file WHERE sweep = ? AND file > ? ORDER BY file LIMIT 1 OFFSET ?',
  suspects: `SELECT ${FILE_COLUMNS} FROM known_file WHERE ${SLICE} AND (
      (judged & ${JUDGED.arrival} = 0 AND first_sweep > @arrivedAfter AND first_seen_at <= @seenUntil)
      OR (judged & ${JUDGED.departure} = 0 AND gone_at IS NULL AND last_sweep < @lastBefore
        AND last_sweep >= @arrivedAfter)
      OR (judged & ${JUDGED.departure} = 0 AND gone_at <= @goneUntil AND last_sweep >= @arrivedAfter))
    ORDER BY file`,
  count: `SELECT count(*) AS entries,
      coalesce(sum(CASE WHEN gone_at IS NULL THEN 1 ELSE 0 END), 0) AS known,
      coalesce(sum(CASE WHEN first_sweep > @baseline AND first_seen_at >= @since THEN 1 ELSE 0 END), 0) AS arrived,
      coalesce(sum(CASE WHEN first_sweep > @baseline AND first_seen_at >= @since AND ${toldBy('created')}
        THEN 1 ELSE 0 END), 0) AS arrivedTold,
      coalesce(sum(CASE WHEN gone_at >= @since THEN 1 ELSE 0 END), 0) AS gone,
      coalesce(sum(CASE WHEN gone_at >= @since AND ${toldBy('deleted')} THEN 1 ELSE 0 END), 0) AS goneTold
    FROM known_file WHERE ${SLICE} AND judged <> ${JUDGED.folder}`,
  told: 'SELECT 1 AS found FROM file_event WHERE account = ? AND storage = ? AND file = ? AND type = ? LIMIT 1',
  // Index: effect_target.
  deleted: `SELECT 1 AS found FROM effect AS begun WHERE target = ? AND account = ? AND class = 'delete'
      AND phase = 'begun' AND NOT EXISTS (SELECT 1 FROM effect AS ended WHERE ended.of_seq = begun.seq
        AND ended.target = begun.target AND ended.outcome IN ('not_found', 'changed', 'dry_run')) LIMIT 1`,
  loadBook: 'SELECT book, version FROM file_book',
  insertBook: 'INSERT INTO file_book (id, book, version) VALUES (1, ?, 1) ON CONFLICT (id) DO NOTHING',
  updateBook: 'UPDATE file_book SET book = ?, version = version + 1 WHERE version = ?',
  tell: `INSERT INTO file_event (account, storage, file, type, event, at)
    VALUES (@account, @storage, @file, @type, @event, @at) ON CONFLICT DO NOTHING`,
  late: `UPDATE file_finding SET late_event = @event,
      state = CASE WHEN state = 'made' THEN 'made' ELSE 'told' END
    WHERE account = @account AND storage = @storage AND file = @file AND type = @type AND late_event IS NULL`,
  addFinding: `INSERT INTO file_finding
      (account, storage, file, type, state, sweep, found_at, path, entry, reason, approval, event, late_event)
    VALUES (@account, @storage, @file, @type, @state, @sweep, @foundAt, @path, @entry, @reason, NULL, NULL, NULL)
    ON CONFLICT DO NOTHING`,
  // Index: file_finding_state.
  found: `SELECT ${FINDING_COLUMNS} FROM file_finding WHERE state = 'found' AND account = ? AND storage = ?
    ORDER BY type, file`,
  settle: `UPDATE file_finding SET state = ?, approval = ?
    WHERE account = ? AND storage = ? AND file = ? AND type = ? AND state = 'found'`,
  move: `UPDATE file_finding SET state = @to, reason = coalesce(@reason, reason)
    WHERE account = @account AND storage = @storage AND file = @file AND type = @type AND state = @from`,
  make: `UPDATE file_finding SET state = 'made', event = @event WHERE account = @account AND storage = @storage
    AND file = @file AND type = @type AND state = 'due'`,
  finding: `SELECT ${FINDING_COLUMNS} FROM file_finding WHERE account = ? AND storage = ? AND file = ? AND type = ?`,
}

/** Index: file_finding_state for few states, else file_finding_found. */
export function selectFindings(query: FindingQuery): { sql: string; values: unknown[] } {
  const { account, storage, type, states, approval, since, limit } = query
  const conditions: Condition[] = []
  if (states !== undefined) conditions.push([`state IN (${states.map((state) => `'${state}'`).join(', ')})`])
  if (account !== undefined) conditions.push(['account = ?', account])
  if (storage !== undefined) conditions.push(['storage = ?', storage])
  if (type !== undefined) conditions.push(['type = ?', type])
  if (approval !== undefined) conditions.push(['approval = ?', approval])
  if (since !== undefined) conditions.push(['found_at >= ?', since])
  const { where, values } = buildWhere(conditions)
  const sql = `SELECT ${FINDING_COLUMNS} FROM file_finding ${where} ORDER BY found_at DESC, file LIMIT ?`
  return { sql, values: [...values, limit] }
}

export function readSweep({ account, storage, state, version }: SweepRow): KeptSweep {
  return { account, storage, state: JSON.parse(state), version }
}
