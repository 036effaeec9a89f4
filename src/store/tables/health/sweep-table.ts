import type { StorageName } from '../../../core/service/storage.ts'
import type { KnownFile } from '../../../core/service/sweep/judge-file.ts'
import { type ListedPage, type PageCounts, type SweepState, takePage } from '../../../core/service/sweep/sweep-state.ts'
import type { FileCounts, FileMark, KeptSweep, ListedFile, SweepChange } from '../../../core/store/sweeps.ts'
import { JoinedTable } from '../../connection.ts'
import type { FindingTable } from './finding-table.ts'

/** Selects known files to be judged, and those that the listing does not have any more. */
interface SuspectQuery {
  account: string
  storage: StorageName
  /** Id of the file before the first; empty at first. */
  after: string
  /** Most files that are read. */
  limit: number
  /** Files first seen after this sweep, and not after that moment. */
  arrivedAfter: number
  seenUntil: number
  /** Files last seen before this sweep; 0: none. */
  lastBefore: number
  /** Files that were gone by then. */
  goneUntil: number
}

/** A slice of the files to be counted. */
interface CountQuery {
  account: string
  storage: StorageName
  /** Id of the file before the first; empty at first. */
  after: string
  /** Most files that are read. */
  limit: number
  baseline: number
  since: number
}

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

/** Sorts behind every id. */
const LAST = '\u{10FFFF}'

const SWEEP_COLUMNS = 'id, account, storage, state, version, forgotten_to'

const FILE_COLUMNS = `file, path, size, created_at, modified_at, first_sweep, last_sweep, gone_at,
  judged & ${JUDGED.arrival} AS is_arrival_judged, judged & ${JUDGED.departure} AS is_departure_judged,
  CASE WHEN judged = ${JUDGED.folder} THEN 1 ELSE 0 END AS is_folder`

/** The files of a storage before which a slice ends. */
const SLICE = 'sweep = @sweep AND file > @after AND file <= @upTo'

function reportedBy(what: 'created' | 'deleted'): string {
  return `(judged & ${JUDGED[what]} <> 0 OR EXISTS (SELECT 1 FROM file_event AS told
    WHERE told.account = @account AND told.storage = @storage AND told.file = known_file.file
      AND told.type = 'file.${what}'))`
}

export class SweepTable extends JoinedTable<{ findings: FindingTable }> {
  /** Index: primary keys. */
  readonly #sql = {
    find: this.db.prepare<[string, string], SweepRow>(
      `SELECT ${SWEEP_COLUMNS} FROM sweep WHERE account = ? AND storage = ?`,
    ),
    lock: this.db.prepare<[string, string], SweepRow>(
      `SELECT ${SWEEP_COLUMNS} FROM sweep WHERE account = ? AND storage = ? ${this.db.sql.forUpdate()}`,
    ),
    insert: this.db.prepare<[string, string, string]>(
      `INSERT INTO sweep (account, storage, state, version) VALUES (?, ?, ?, 1)
    ON CONFLICT (account, storage) DO NOTHING`,
    ),
    update: this.db.prepare<[string, string, string, number]>(
      `UPDATE sweep SET state = ?, version = version + 1 WHERE account = ? AND storage = ? AND version = ?`,
    ),
    known: this.db.prepare<[number, string], Pick<KnownFile, 'firstSweep' | 'lastSweep'>>(
      'SELECT first_sweep, last_sweep FROM known_file WHERE sweep = ? AND file = ?',
    ),
    see: this.db.prepare<[SeenFile]>(
      `INSERT INTO known_file
      (sweep, file, path, size, created_at, modified_at, first_sweep, last_sweep, first_seen_at,
       judged)
    VALUES (@sweep, @file, @path, @size, @createdAt, @modifiedAt, @number, @number, @now, @judged)
    ON CONFLICT (sweep, file) DO UPDATE SET path = @path, size = @size, created_at = @createdAt,
      modified_at = @modifiedAt, last_sweep = @number, gone_at = NULL`,
    ),
    judge: this.db.prepare<[number, number, string]>(
      'UPDATE known_file SET judged = judged | ? WHERE sweep = ? AND file = ?',
    ),
    stay: this.db.prepare<[number, number, string]>(
      'UPDATE known_file SET last_sweep = ?, gone_at = NULL WHERE sweep = ? AND file = ?',
    ),
    leave: this.db.prepare<[number, number, string]>('UPDATE known_file SET gone_at = ? WHERE sweep = ? AND file = ?'),
    boundary: this.db.pluck<[number, string, number], string>(
      'SELECT file FROM known_file WHERE sweep = ? AND file > ? ORDER BY file LIMIT 1 OFFSET ?',
    ),
    suspects: this.db.prepare<[Slice], KnownFile>(
      `SELECT ${FILE_COLUMNS} FROM known_file WHERE ${SLICE} AND (
      (judged & ${JUDGED.arrival} = 0 AND first_sweep > @arrivedAfter AND first_seen_at <= @seenUntil)
      OR (judged & ${JUDGED.departure} = 0 AND gone_at IS NULL AND last_sweep < @lastBefore
        AND last_sweep >= @arrivedAfter)
      OR (judged & ${JUDGED.departure} = 0 AND gone_at <= @goneUntil AND last_sweep >= @arrivedAfter)
      OR (gone_at IS NULL AND last_sweep < @lastBefore
        AND (last_sweep < @arrivedAfter OR judged = ${JUDGED.folder})))
    ORDER BY file`,
    ),
    count: this.db.prepare<[CountedSlice], FileCounts & { entries: number }>(
      `SELECT count(*) AS entries,
      coalesce(sum(CASE WHEN gone_at IS NULL THEN 1 ELSE 0 END), 0) AS known,
      coalesce(sum(CASE WHEN first_sweep > @baseline AND first_seen_at >= @since THEN 1 ELSE 0 END), 0) AS arrived,
      coalesce(sum(CASE WHEN first_sweep > @baseline AND first_seen_at >= @since AND ${reportedBy('created')}
        THEN 1 ELSE 0 END), 0) AS arrived_reported,
      coalesce(sum(CASE WHEN gone_at >= @since THEN 1 ELSE 0 END), 0) AS gone,
      coalesce(sum(CASE WHEN gone_at >= @since AND ${reportedBy('deleted')} THEN 1 ELSE 0 END), 0) AS gone_reported
    FROM known_file WHERE ${SLICE} AND judged <> ${JUDGED.folder}`,
    ),
  }

  async loadSweep(account: string, storage: StorageName): Promise<KeptSweep | null> {
    const row = await this.#sql.find.get(account, storage)
    return row === undefined ? null : readSweep(row)
  }

  readonly listSweeps = this.readRows<[], SweepRow, KeptSweep>(
    `SELECT ${SWEEP_COLUMNS} FROM sweep ORDER BY account, storage`,
    readSweep,
  )

  /** Compare-and-set: replaces the state of `version`, 0 for none. False: another was first. */
  async saveSweep(kept: KeptSweep, change: SweepChange = {}): Promise<boolean> {
    if (!(await this.#replace(kept))) return false
    const row = await this.#require(kept)
    for (const mark of change.marks ?? []) await this.#mark(row.id, mark)
    await this.parts.findings.add(change.findings ?? [])
    if (change.settle) await this.parts.findings.settle(row, change.settle)
    return true
  }

  /**
   * Marks the entries of a page as seen, and moves the state behind the page in the same commit.
   * Returns the new state; null where the stored one has another version.
   */
  async savePage(
    kept: KeptSweep,
    page: ListedPage,
    files: readonly ListedFile[],
    now: number,
  ): Promise<KeptSweep | null> {
    const row = await this.#sql.lock.get(kept.account, kept.storage)
    if (row === undefined || row.version !== kept.version) return null
    const counts = await this.#see(row.id, kept.state, files, now)
    const next = { ...kept, state: takePage(kept.state, page, counts, now) }
    return (await this.#replace(next)) ? { ...next, version: kept.version + 1 } : null
  }

  async #see(
    sweep: number,
    { number, complete }: SweepState,
    files: readonly ListedFile[],
    now: number,
  ): Promise<PageCounts> {
    const before = complete.at(-1)?.number ?? Infinity
    const counts: PageCounts = { fresh: 0, freshFiles: 0, kept: 0 }
    for (const { isFolder, ...file } of files) {
      const known = await this.#sql.known.get(sweep, file.file)
      const judged = isFolder ? JUDGED.folder : 0
      await this.#sql.see.run({ ...file, sweep, number, now, judged })
      if (known?.lastSweep === number) continue
      counts.fresh += 1
      if (!isFolder) counts.freshFiles += 1
      if (known && known.firstSweep <= before && known.lastSweep >= before) counts.kept += 1
    }
    return counts
  }

  /** Known files to be judged, in the order of ids; `next` is null at the end. */
  async listSuspects(query: SuspectQuery): Promise<{ files: KnownFile[]; next: string | null }> {
    const row = await this.#sql.find.get(query.account, query.storage)
    if (row === undefined) return { files: [], next: null }
    const boundary = await this.#sql.boundary.get(row.id, query.after, query.limit - 1)
    const { after, arrivedAfter, seenUntil, lastBefore, goneUntil } = query
    const slice = { sweep: row.id, after, upTo: boundary ?? LAST, arrivedAfter, seenUntil, lastBefore, goneUntil }
    return { files: await this.#sql.suspects.all(slice), next: boundary ?? null }
  }

  /** Counts a slice of the known files; `next` is null at the end. */
  async countFiles({
    account,
    storage,
    after,
    limit,
    baseline,
    since,
  }: CountQuery): Promise<FileCounts & { next: string | null }> {
    const row = await this.#sql.find.get(account, storage)
    const boundary = row && (await this.#sql.boundary.get(row.id, after, limit - 1))
    const slice = { sweep: row?.id ?? 0, after, upTo: boundary ?? LAST }
    const counted = await this.#sql.count.get({ ...slice, account, storage, baseline, since })
    const { entries, ...counts } = counted ?? NOTHING_COUNTED
    return { ...counts, next: boundary ?? null }
  }

  async #replace({ account, storage, state, version }: KeptSweep): Promise<boolean> {
    const text = JSON.stringify(state)
    const { insert, update } = this.#sql
    const written = await (version === 0
      ? insert.run(account, storage, text)
      : update.run(text, account, storage, version))
    return written.changes === 1
  }

  async #require({ account, storage }: KeptSweep): Promise<SweepRow> {
    const row = await this.#sql.find.get(account, storage)
    if (row === undefined) throw new Error(`the sweep of ${storage} was just written`)
    return row
  }

  async #mark(sweep: number, mark: FileMark): Promise<unknown> {
    switch (mark.kind) {
      case 'arrival':
      case 'departure':
        return this.#sql.judge.run(JUDGED[mark.kind], sweep, mark.file)
      case 'present':
        return this.#sql.stay.run(mark.sweep, sweep, mark.file)
      case 'gone':
        return this.#sql.leave.run(mark.at, sweep, mark.file)
      default:
        return mark satisfies never
    }
  }
}

const NOTHING_COUNTED = { entries: 0, known: 0, arrived: 0, arrivedReported: 0, gone: 0, goneReported: 0 }

function readSweep({ account, storage, state, version, forgottenTo }: SweepRow): KeptSweep {
  return { account, storage, state: JSON.parse(state), version, forgottenTo }
}

/** The columns of {@link ListedFile} with the sweep that saw it. */
type SeenFile = Omit<ListedFile, 'isFolder'> & { sweep: number; number: number; now: number; judged: number }
type Slice = Omit<SuspectQuery, 'account' | 'storage' | 'limit'> & { sweep: number; upTo: string }

type CountedSlice = Omit<CountQuery, 'limit'> & { sweep: number; upTo: string }
