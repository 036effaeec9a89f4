import type { StorageName } from '../../../core/service/storage.ts'
import { type FileEvent, isTooNew, type JudgedFile, judgeTold } from '../../../core/service/sweep/judge-file.ts'
import { FILE_TYPES } from '../../../core/service/sweep/sweep-plan.ts'
import type { SweepState } from '../../../core/service/sweep/sweep-state.ts'
import type { FindingQuery, KeptSweep } from '../../../core/store/sweeps.ts'
import { buildWhere, type Condition } from '../build-where.ts'

export interface SweepRow {
  id: number
  account: string
  storage: StorageName
  state: string
  version: number
  forgottenTo: number | null
}

/**
 * Bits of `known_file.judged`. `created` and `deleted`: an event told, and its row is gone. A
 * folder has the first three.
 */
export const JUDGED = { arrival: 1, departure: 2, folder: 7, created: 8, deleted: 16 } as const

const SWEEP_COLUMNS = 'id, account, storage, state, version, forgotten_to'

const FILE_COLUMNS = `file, path, size, created_at, modified_at, first_sweep, last_sweep, first_seen_at, gone_at,
  CASE WHEN judged = ${JUDGED.folder} THEN 1 ELSE 0 END AS is_folder`

const FINDING_COLUMNS =
  'account, storage, file, type, state, sweep, found_at, path, entry, reason, approval, event, late_event'

/** The files of a storage before which a slice ends. */
const SLICE = 'sweep = @sweep AND file > @after AND file <= @upTo'

function toldBy(what: 'created' | 'deleted'): string {
  return `(judged & ${JUDGED[what]} <> 0 OR EXISTS (SELECT 1 FROM file_event AS told
    WHERE told.account = @account AND told.storage = @storage AND told.file = known_file.file
      AND told.type = 'file.${what}'))`
}

const KNOWN_STILL = `FROM known_file WHERE known_file.sweep = sweep.id AND known_file.file = told.file
  AND (gone_at IS NULL OR gone_at >= @before)`

/** Statements of both databases. Index: primary keys, except where one is named. */
export const SWEEP_SQL = {
  find: `SELECT ${SWEEP_COLUMNS} FROM sweep WHERE account = ? AND storage = ?`,
  list: `SELECT ${SWEEP_COLUMNS} FROM sweep ORDER BY account, storage`,
  insert: `INSERT INTO sweep (account, storage, state, version) VALUES (?, ?, ?, 1)
    ON CONFLICT (account, storage) DO NOTHING`,
  update: `UPDATE sweep SET state = ?, version = version + 1 WHERE account = ? AND storage = ? AND version = ?`,
  known: 'SELECT first_sweep, last_sweep FROM known_file WHERE sweep = ? AND file = ?',
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
      OR (judged & ${JUDGED.departure} = 0 AND gone_at <= @goneUntil AND last_sweep >= @arrivedAfter)
      OR (gone_at IS NULL AND last_sweep < @lastBefore
        AND (last_sweep < @arrivedAfter OR judged = ${JUDGED.folder})))
    ORDER BY file`,
  count: `SELECT count(*) AS entries,
      coalesce(sum(CASE WHEN gone_at IS NULL THEN 1 ELSE 0 END), 0) AS known,
      coalesce(sum(CASE WHEN first_sweep > @baseline AND first_seen_at >= @since THEN 1 ELSE 0 END), 0) AS arrived,
      coalesce(sum(CASE WHEN first_sweep > @baseline AND first_seen_at >= @since AND ${toldBy('created')}
        THEN 1 ELSE 0 END), 0) AS arrived_told,
      coalesce(sum(CASE WHEN gone_at >= @since THEN 1 ELSE 0 END), 0) AS gone,
      coalesce(sum(CASE WHEN gone_at >= @since AND ${toldBy('deleted')} THEN 1 ELSE 0 END), 0) AS gone_told
    FROM known_file WHERE ${SLICE} AND judged <> ${JUDGED.folder}`,
  // Index: known_file_gone. A file that is back by now stays.
  forget: `DELETE FROM known_file WHERE gone_at < @before AND (sweep, file) IN (
      SELECT sweep, file FROM known_file WHERE gone_at < @before ORDER BY gone_at LIMIT @limit)
    RETURNING sweep, gone_at, judged`,
  noteForgotten: 'UPDATE sweep SET forgotten_to = @goneAt WHERE id = @sweep AND coalesce(forgotten_to, 0) < @goneAt',
  toldAfter: `SELECT account, storage, file, type, event, at FROM file_event
    WHERE (account, storage, file, type, event) > (@account, @storage, @file, @type, @event)
    ORDER BY account, storage, file, type, event LIMIT @limit`,
  // Index: known_file_gone.
  countGone: `SELECT count(*) FROM (SELECT 1 FROM known_file WHERE gone_at < @before LIMIT @limit) AS gone`,
  // Files that events told of, with what is known once those that are gone are forgotten.
  // Looked up one by one: a join may read all known files for a few.
  toldOf: `SELECT told.account, told.storage, told.type, told.at,
      (SELECT first_sweep ${KNOWN_STILL}) AS first_sweep, (SELECT judged ${KNOWN_STILL}) AS judged
    FROM (SELECT * FROM file_event ORDER BY account, storage, file, type, event LIMIT @limit) AS told
    LEFT JOIN sweep ON sweep.account = told.account AND sweep.storage = told.storage`,
  judged: 'SELECT first_sweep, judged FROM known_file WHERE sweep = ? AND file = ?',
  untell: 'DELETE FROM file_event WHERE account = ? AND storage = ? AND file = ? AND type = ? AND event = ?',
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

/** A row of a file that was gone for long enough. */
export interface ForgottenFile {
  sweep: number
  goneAt: number
  judged: number
}

/** When the file was last there, at the latest; null for a folder, which is never judged. */
export function lastThere({ goneAt, judged }: ForgottenFile, now: number): number | null {
  if (judged === JUDGED.folder) return null
  return goneAt === 0 ? now : goneAt
}

export interface JudgedRow {
  firstSweep: number
  judged: number
}

/** A file that an event told of, with what is known of it; null: nothing. */
export interface ToldOf extends Pick<FileEvent, 'account' | 'type' | 'at'> {
  storage: string
  firstSweep: number | null
  judged: number | null
}

/** How many of these rows a prune would remove. */
export function countJudged(
  told: readonly ToldOf[],
  sweeps: ReturnType<typeof readSweeps>,
  bounds: { before: number; now: number },
): number {
  const goes = ({ account, storage, type, at, firstSweep, judged }: ToldOf) => {
    const state = sweeps.get(`${account} ${storage}`)?.state ?? null
    if (isTooNew({ at }, state, bounds.now)) return false
    const known = firstSweep === null || judged === null ? null : readJudged({ firstSweep, judged })
    return judgeTold({ type, at }, { known, state }, bounds.before) !== 'keep'
  }
  return told.filter(goes).length
}

/** Key of a row of `file_event`. */
export type ToldPlace = Pick<FileEvent, 'account' | 'file' | 'type' | 'event'> & { storage: string }

const FIRST_TOLD: ToldPlace = { account: '', storage: '', file: '', type: '', event: '' }

/** The position behind a row; null: before the first. */
export function nextTold(row: ToldPlace | null): string {
  const { account, storage, file, type, event } = row ?? FIRST_TOLD
  return JSON.stringify([account, storage, file, type, event])
}

/** Null: files that are gone come first. */
export function readTold(after: string | null): ToldPlace | null {
  if (after === null || after === '') return null
  const [account, storage, file, type, event] = JSON.parse(after)
  return { account, storage, file, type, event }
}

/** The sweeps by account and storage, joined by a space. */
export function readSweeps(rows: readonly SweepRow[]): Map<string, { id: number; state: SweepState }> {
  return new Map(
    rows.map(({ id, account, storage, state }) => [`${account} ${storage}`, { id, state: JSON.parse(state) }]),
  )
}

export function readJudged(row: JudgedRow | undefined): JudgedFile | null {
  if (row === undefined) return null
  const has = (bit: number) => (row.judged & bit) !== 0
  return {
    firstSweep: row.firstSweep,
    isArrivalJudged: has(JUDGED.arrival),
    isDepartureJudged: has(JUDGED.departure),
  }
}

/** The bit of `known_file.judged` that stands for an event of the type. */
export function toldBit(type: string): number {
  return type === FILE_TYPES.created ? JUDGED.created : type === FILE_TYPES.deleted ? JUDGED.deleted : 0
}

export function readSweep({ account, storage, state, version, forgottenTo }: SweepRow): KeptSweep {
  return { account, storage, state: JSON.parse(state), version, forgottenTo }
}
