import type { SentEvent } from '../../../core/runs/wait.ts'
import type { StorageName } from '../../../core/service/storage.ts'
import type {
  FileBook,
  FileEvent,
  FileFinding,
  FindingKey,
  FindingState,
  KnownFile,
} from '../../../core/service/sweep/judge-file.ts'
import { type ListedPage, type PageCounts, type SweepState, takePage } from '../../../core/service/sweep/sweep-state.ts'
import type {
  FileCounts,
  FileMark,
  FindingQuery,
  KeptSweep,
  ListedFile,
  SweepChange,
  SweepHold,
} from '../../../core/store/sweeps.ts'
import { type Connection, JoinedTable } from '../../connection.ts'
import { JUDGED, readSweep, SWEEP_SQL, type SweepRow, selectFindings } from '../../rows/health/sweep-rows.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { OwnEvents } from '../incoming/own-events.ts'

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

type Key = [account: string, storage: string, file: string, type: string]

/** Sorts behind every id. */
const LAST = '\u{10FFFF}'

/** Sweeps, the files that they saw, and what they found. */
export class SweepTable extends JoinedTable<{ approvals: ApprovalTable; ownEvents: OwnEvents }> {
  readonly #sql = prepareSweeps(this.db)

  async loadSweep(account: string, storage: StorageName): Promise<KeptSweep | null> {
    const row = await this.#sql.find.get(account, storage)
    return row === undefined ? null : readSweep(row)
  }

  async listSweeps(): Promise<KeptSweep[]> {
    return (await this.#sql.list.all()).map(readSweep)
  }

  /** Compare-and-set: replaces the state of `version`, 0 for none. False: another was first. */
  async saveSweep(kept: KeptSweep, change: SweepChange = {}): Promise<boolean> {
    if (!(await this.#replace(kept))) return false
    const row = await this.#require(kept)
    for (const mark of change.marks ?? []) await this.#mark(row.id, mark)
    for (const finding of change.findings ?? []) {
      const { approval, event, lateEvent, ...rest } = finding
      await this.#sql.addFinding.run(rest)
    }
    if (change.settle) await this.#settle(row, change.settle)
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
    const row = await this.#sql.find.get(kept.account, kept.storage)
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

  /** The files among these of which an event of the type told. */
  async listToldFiles(query: {
    account: string
    storage: StorageName
    type: string
    files: readonly string[]
  }): Promise<string[]> {
    const told: string[] = []
    for (const file of query.files)
      if (await this.#sql.told.get(query.account, query.storage, file, query.type)) told.push(file)
    return told
  }

  /** Whether a delete of ours reached one of these targets, or may have. */
  async hasOwnDelete(account: string, targets: readonly string[]): Promise<boolean> {
    for (const target of targets) if (await this.#sql.deleted.get(target, account)) return true
    return false
  }

  async loadFileBook(): Promise<{ book: FileBook; version: number } | null> {
    const row = await this.#sql.loadBook.get()
    return row === undefined ? null : { book: JSON.parse(row.book), version: row.version }
  }

  /**
   * Compare-and-set of the book, with the events that were read. It also links late events. A late
   * event ends what is asked for, and stays beside what was made up.
   */
  async saveFileBook(book: FileBook, version: number, events: readonly FileEvent[]): Promise<boolean> {
    const text = JSON.stringify(book)
    const { insertBook, updateBook } = this.#sql
    const written = await (version === 0 ? insertBook.run(text) : updateBook.run(text, version))
    if (written.changes !== 1) return false
    for (const event of events) {
      await this.#sql.tell.run(event)
      const { at, ...late } = event
      await this.#sql.late.run(late)
    }
    return true
  }

  /** Gives findings of one state another one; false where one is in another state by now. */
  async moveFinding(key: FindingKey, from: FindingState, to: FindingState, reason: string | null): Promise<boolean> {
    const { account, storage, file, type } = key
    const moved = await this.#sql.move.run({ account, storage, file, type, from, to, reason })
    return moved.changes === 1
  }

  /**
   * Saves the made-up event of a `due` finding and its runs. False where the finding is not due any
   * more, or an event of its file was matched meanwhile.
   */
  async makeUpEvent({ account, storage, file, type }: FindingKey, event: SentEvent): Promise<boolean> {
    if (await this.#sql.told.get(account, storage, file, type)) return false
    const made = await this.#sql.make.run({ account, storage, file, type, event: event.id })
    if (made.changes !== 1) return false
    await this.parts.ownEvents.send(event, 'reconcile')
    return true
  }

  async findFinding({ account, storage, file, type }: FindingKey): Promise<FileFinding | null> {
    return (await this.#sql.finding.get(account, storage, file, type)) ?? null
  }

  /** Newest first. */
  listFindings(query: FindingQuery): Promise<FileFinding[]> {
    const { sql, values } = selectFindings(query)
    return this.db.prepare<unknown[], FileFinding>(sql).all(...values)
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

  async #settle(
    { account, storage }: SweepRow,
    { state, held }: { state: FindingState; held: SweepHold | null },
  ): Promise<void> {
    const found = await this.#sql.found.all(account, storage)
    const approval = held === null ? null : await this.#hold({ account, storage }, held, found)
    const keys = found.map((finding): Key => [account, storage, finding.file, finding.type])
    for (const key of keys) await this.#sql.settle.run(state, approval, ...key)
  }

  /** Opens the approval that they wait for; one that is open already grows. */
  async #hold(
    { account, storage }: Pick<SweepRow, 'account' | 'storage'>,
    { why, needs, now, expiresAt }: SweepHold,
    found: readonly FileFinding[],
  ): Promise<string> {
    const hold = `repair/${account}/${storage}`
    const opening = { hold, account, why, needs, expiresAt, openedAt: now, workflow: '', role: null, question: null }
    const approval =
      (await this.parts.approvals.findOpen(hold, now)) ??
      (await this.parts.approvals.open({ kind: 'repair', ...opening }))
    const items = found.map(({ file, type, path }) => ({
      ...{ runId: '', step: type, target: `${storage}:${file}` },
      asked: { ...NOTHING_ASKED, path },
    }))
    await this.parts.approvals.join(approval, items)
    return approval.id
  }
}

const NOTHING_COUNTED = { entries: 0, known: 0, arrived: 0, arrivedTold: 0, gone: 0, goneTold: 0 }

/** A made-up event asks for no state of the file. */
const NOTHING_ASKED = { expect: null, bytes: null, modifiedAt: null, input: null }

function prepareSweeps(db: Connection) {
  const sql = SWEEP_SQL
  return {
    ...prepareFiles(db),
    find: db.prepare<[string, string], SweepRow>(sql.find),
    list: db.prepare<[], SweepRow>(sql.list),
    insert: db.prepare<[string, string, string]>(sql.insert),
    update: db.prepare<[string, string, string, number]>(sql.update),
    loadBook: db.prepare<[], { book: string; version: number }>(sql.loadBook),
    insertBook: db.prepare<[string]>(sql.insertBook),
    updateBook: db.prepare<[string, number]>(sql.updateBook),
    tell: db.prepare<[FileEvent]>(sql.tell),
    late: db.prepare<[Omit<FileEvent, 'at'>]>(sql.late),
    addFinding: db.prepare<[Omit<FileFinding, 'approval' | 'event' | 'lateEvent'>]>(sql.addFinding),
    found: db.prepare<[string, string], FileFinding>(sql.found),
    settle: db.prepare<[string, string | null, ...Key]>(sql.settle),
    move: db.prepare<[FindingKey & { from: string; to: string; reason: string | null }]>(sql.move),
    make: db.prepare<[FindingKey & { event: string }]>(sql.make),
    finding: db.prepare<Key, FileFinding>(sql.finding),
  }
}

/** The columns of {@link ListedFile} with the sweep that saw it. */
type SeenFile = Omit<ListedFile, 'isFolder'> & { sweep: number; number: number; now: number; judged: number }
type Slice = Omit<SuspectQuery, 'account' | 'storage' | 'limit'> & { sweep: number; upTo: string }

type CountedSlice = Omit<CountQuery, 'limit'> & { sweep: number; upTo: string }

function prepareFiles(db: Connection) {
  const sql = SWEEP_SQL
  return {
    known: db.prepare<[number, string], Pick<KnownFile, 'firstSweep' | 'lastSweep'>>(sql.known),
    see: db.prepare<[SeenFile]>(sql.see),
    judge: db.prepare<[number, number, string]>(sql.judge),
    stay: db.prepare<[number, number, string]>(sql.stay),
    leave: db.prepare<[number, number, string]>(sql.leave),
    boundary: db.pluck<[number, string, number], string>(sql.boundary),
    suspects: db.prepare<[Slice], KnownFile>(sql.suspects),
    count: db.prepare<[CountedSlice], FileCounts & { entries: number }>(sql.count),
    told: db.prepare<Key, unknown>(sql.told),
    deleted: db.prepare<[string, string], unknown>(sql.deleted),
  }
}
