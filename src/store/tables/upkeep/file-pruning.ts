import { type FileEvent, isTooNew, type JudgedFile, judgeReported } from '../../../core/service/sweep/judge-file.ts'
import { FILE_TYPES } from '../../../core/service/sweep/sweep-plan.ts'
import type { SweepState } from '../../../core/service/sweep/sweep-state.ts'
import type { PruneProgress, PruneSlice } from '../../../core/store/retention.ts'
import { Table } from '../../connection.ts'
import { JUDGED, type SweepRow } from '../health/sweep-table.ts'

const OLD_FINDINGS = `FROM file_finding WHERE found_at < @before AND state NOT IN ('found', 'held', 'due')`
const KNOWN_STILL = `FROM known_file WHERE known_file.sweep = sweep.id AND known_file.file = told.file
  AND (gone_at IS NULL OR gone_at >= @before)`

/**
 * Forgets files that are gone, old findings, and what events told of files that are judged. Rows
 * that a sweep may still need stay, whatever their age.
 */
export class FilePruning extends Table {
  /** Index: primary keys, except where one is named. */
  readonly #sql = {
    sweeps: this.db.prepare<[], SweepRow>('SELECT * FROM sweep'),
    // Index: known_file_gone. A file that is back by now stays.
    forget: this.db.prepare<[{ before: number; limit: number }], ForgottenFile>(
      `DELETE FROM known_file WHERE gone_at < @before AND (sweep, file) IN (
      SELECT sweep, file FROM known_file WHERE gone_at < @before ORDER BY gone_at LIMIT @limit)
    RETURNING sweep, gone_at, judged`,
    ),
    // Index: file_finding_found. Those that are still to be decided or made up stay.
    dropFindings: this.db.prepare<[{ before: number; limit: number }]>(
      `DELETE FROM file_finding WHERE (account, storage, file, type) IN (
      SELECT account, storage, file, type ${OLD_FINDINGS} ORDER BY found_at LIMIT @limit)`,
    ),
    countFindings: this.db.pluck<[{ before: number; limit: number }], number>(
      `SELECT count(*) FROM (SELECT 1 ${OLD_FINDINGS} LIMIT @limit) AS old`,
    ),
    noteForgotten: this.db.prepare<[Pick<ForgottenFile, 'sweep' | 'goneAt'>]>(
      'UPDATE sweep SET forgotten_to = @goneAt WHERE id = @sweep AND coalesce(forgotten_to, 0) < @goneAt',
    ),
    reportedAfter: this.db.prepare<[ReportCursor & { limit: number }], FileEvent>(
      `SELECT account, storage, file, type, event, at FROM file_event
    WHERE (account, storage, file, type, event) > (@account, @storage, @file, @type, @event)
    ORDER BY account, storage, file, type, event LIMIT @limit`,
    ),
    judged: this.db.prepare<[number, string[]], JudgedRow & { file: string }>(
      `SELECT file, first_sweep, judged FROM known_file
    WHERE sweep = ? AND ${this.db.sql.isOneOf('file', 'text')}`,
    ),
    judge: this.db.prepare<[number, number, string[]]>(
      `UPDATE known_file SET judged = judged | ? WHERE sweep = ? AND ${this.db.sql.isOneOf('file', 'text')}`,
    ),
    untell: this.db.prepare<[string, string, string[], string]>(
      `DELETE FROM file_event WHERE account = ? AND storage = ? AND ${this.db.sql.isOneOf('file', 'text')}
      AND (file, type, event) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM ${this.db.sql.rows})`,
    ),
    // Index: known_file_gone.
    countGone: this.db.pluck<[{ before: number; limit: number }], number>(
      `SELECT count(*) FROM (SELECT 1 FROM known_file WHERE gone_at < @before LIMIT @limit) AS gone`,
    ),
    // Files that events told of, with what is known once those that are gone are forgotten.
    // Looked up one by one: a join may read all known files for a few.
    reportedFiles: this.db.prepare<[{ before: number; limit: number }], ReportedFile>(
      `SELECT told.account, told.storage, told.type, told.at,
      (SELECT first_sweep ${KNOWN_STILL}) AS first_sweep, (SELECT judged ${KNOWN_STILL}) AS judged
    FROM (SELECT * FROM file_event ORDER BY account, storage, file, type, event LIMIT @limit) AS told
    LEFT JOIN sweep ON sweep.account = told.account AND sweep.storage = told.storage`,
    ),
  }

  /** Counts what a prune would remove, and changes nothing. */
  async count(before: number, { now, limit }: { now: number; limit: number }): Promise<{ read: number; rows: number }> {
    const files = (await this.#sql.countGone.get({ before, limit })) ?? 0
    const gone = files + ((await this.#sql.countFindings.get({ before, limit: limit - files })) ?? 0)
    const told = await this.#sql.reportedFiles.all({ before, limit: limit - gone })
    const sweeps = readSweeps(await this.#sql.sweeps.all())
    const goes = ({ account, storage, type, at, firstSweep, judged }: ReportedFile) => {
      const state = sweeps.get(`${account} ${storage}`)?.state ?? null
      if (isTooNew({ at }, state, now)) return false
      const known = firstSweep === null || judged === null ? null : readJudged({ firstSweep, judged })
      return judgeReported({ type, at }, { known, state }, before) !== 'keep'
    }
    return { read: gone + told.length, rows: gone + told.filter(goes).length }
  }

  async prune({ before, now = before, limit, after }: PruneSlice): Promise<PruneProgress> {
    const place = readCursor(after)
    if (place !== null) return await this.#pruneReported(place, { before, now }, limit)
    const gone = await this.#sql.forget.all({ before, limit })
    for (const file of gone) {
      const goneAt = lastThere(file, now)
      if (goneAt !== null) await this.#sql.noteForgotten.run({ sweep: file.sweep, goneAt })
    }
    const findings = await this.#sql.dropFindings.run({ before, limit })
    const isRest = gone.length === limit || findings.changes === limit
    return { pruned: gone.length + findings.changes, next: isRest ? '' : writeCursor(null) }
  }

  async #pruneReported(
    place: ReportCursor,
    bounds: { before: number; now: number },
    limit: number,
  ): Promise<PruneProgress> {
    const sweeps = readSweeps(await this.#sql.sweeps.all())
    const found = await this.#sql.reportedAfter.all({ ...place, limit })
    let pruned = 0
    for (const [storage, told] of Map.groupBy(found, (row) => `${row.account} ${row.storage}`)) {
      pruned += await this.#pruneStorage(told, sweeps.get(storage) ?? null, bounds)
    }
    return { pruned, next: found.length < limit ? null : writeCursor(found.at(-1) ?? null) }
  }

  /** The same for rows of one storage; gives the number of those that went. */
  async #pruneStorage(
    told: readonly FileEvent[],
    sweep: Sweep | null,
    { before, now }: { before: number; now: number },
  ): Promise<number> {
    const ripe = told.filter((row) => !isTooNew(row, sweep?.state ?? null, now))
    const files = ripe.map(({ file }) => file)
    const rows = sweep === null || files.length === 0 ? [] : await this.#sql.judged.all(sweep.id, files)
    const known = new Map(rows.map((row) => [row.file, readJudged(row)]))
    const judge = ({ file, type, at }: FileEvent) =>
      judgeReported({ type, at }, { known: known.get(file) ?? null, state: sweep?.state ?? null }, before)
    const gone = ripe.map((row) => ({ ...row, verdict: judge(row) })).filter(({ verdict }) => verdict !== 'keep')
    const [first] = gone
    if (first === undefined) return 0
    const filesOf = (rows: readonly FileEvent[]) => rows.map(({ file }) => file)
    if (sweep !== null) {
      const forgotten = gone.filter(({ verdict }) => verdict === 'forget').map(({ at }) => at)
      if (forgotten.length > 0) await this.#sql.noteForgotten.run({ sweep: sweep.id, goneAt: Math.max(...forgotten) })
      for (const [bit, of] of Map.groupBy(gone, ({ type }) => reportedBit(type))) {
        if (bit !== 0) await this.#sql.judge.run(bit, sweep.id, filesOf(of))
      }
    }
    const keys = JSON.stringify(gone.map(({ file, type, event }) => [file, type, event]))
    await this.#sql.untell.run(first.account, first.storage, filesOf(gone), keys)
    return gone.length
  }
}

/** A row of a file that was gone for long enough. */
interface ForgottenFile {
  sweep: number
  goneAt: number
  judged: number
}

/** When the file was last there, at the latest; null for a folder, which is never judged. */
function lastThere({ goneAt, judged }: ForgottenFile, now: number): number | null {
  if (judged === JUDGED.folder) return null
  return goneAt === 0 ? now : goneAt
}

interface Sweep {
  id: number
  state: SweepState
}

interface JudgedRow {
  firstSweep: number
  judged: number
}

/** A file that an event told of, with what is known of it; null: nothing. */
interface ReportedFile extends Pick<FileEvent, 'account' | 'type' | 'at'> {
  storage: string
  firstSweep: number | null
  judged: number | null
}

/** Key of a row of `file_event`. */
type ReportCursor = Pick<FileEvent, 'account' | 'file' | 'type' | 'event'> & { storage: string }

const FIRST_REPORT: ReportCursor = { account: '', storage: '', file: '', type: '', event: '' }

/** The position behind a row; null: before the first. */
function writeCursor(row: ReportCursor | null): string {
  const { account, storage, file, type, event } = row ?? FIRST_REPORT
  return JSON.stringify([account, storage, file, type, event])
}

/** Null: files that are gone come first. */
function readCursor(after: string | null): ReportCursor | null {
  if (after === null || after === '') return null
  const [account, storage, file, type, event] = JSON.parse(after)
  return { account, storage, file, type, event }
}

/** The sweeps by account and storage, joined by a space. */
function readSweeps(rows: readonly SweepRow[]): Map<string, Sweep> {
  return new Map(
    rows.map(({ id, account, storage, state }) => [`${account} ${storage}`, { id, state: JSON.parse(state) }]),
  )
}

function readJudged(row: JudgedRow): JudgedFile {
  return {
    firstSweep: row.firstSweep,
    isArrivalJudged: row.judged & JUDGED.arrival,
    isDepartureJudged: row.judged & JUDGED.departure,
  }
}

/** The bit of `known_file.judged` that stands for an event of the type. */
function reportedBit(type: string): number {
  return type === FILE_TYPES.created ? JUDGED.created : type === FILE_TYPES.deleted ? JUDGED.deleted : 0
}
