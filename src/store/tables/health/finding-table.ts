import type { SentEvent } from '../../../core/runs/wait.ts'
import type { StorageName } from '../../../core/service/storage.ts'
import type {
  FileBook,
  FileEvent,
  FileFinding,
  FindingKey,
  FindingState,
} from '../../../core/service/sweep/judge-file.ts'
import type { FindingQuery, KeptSweep, RepairRequest } from '../../../core/store/sweeps.ts'
import { JoinedTable } from '../../connection.ts'
import { buildWhere, given, isLongText } from '../../rows/build-where.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { OwnEvents } from '../incoming/own-events.ts'
import { openTexts, readBook } from './book-table.ts'

type Key = [account: string, storage: string, file: string, type: string]

const FINDING_COLUMNS =
  'account, storage, file, type, state, sweep, found_at, path, entry, reason, approval, event, late_event'

/** Files that events told of, and findings of sweeps: files that no event told of. */
export class FindingTable extends JoinedTable<{ approvals: ApprovalTable; ownEvents: OwnEvents }> {
  /** Index: primary keys, except where one is named. */
  readonly #sql = {
    addFinding: this.db.prepare<[Omit<FileFinding, 'approval' | 'event' | 'lateEvent'>]>(
      `INSERT INTO file_finding
      (account, storage, file, type, state, sweep, found_at, path, entry, reason, approval, event, late_event)
    VALUES (@account, @storage, @file, @type, @state, @sweep, @foundAt, @path, @entry, @reason, NULL, NULL, NULL)
    ON CONFLICT DO NOTHING`,
    ),
    // Index: file_finding_state.
    found: this.db.prepare<[string, string], FileFinding>(
      `SELECT ${FINDING_COLUMNS} FROM file_finding WHERE state = 'found' AND account = ? AND storage = ?
    ORDER BY type, file`,
    ),
    settle: this.db.prepare<[state: string, approval: string | null, account: string, storage: string]>(
      `UPDATE file_finding SET state = ?, approval = ? WHERE state = 'found' AND account = ? AND storage = ?`,
    ),
    move: this.db.prepare<[FindingKey & { from: string; to: string; reason: string | null }]>(
      `UPDATE file_finding SET state = @to, reason = coalesce(@reason, reason)
    WHERE account = @account AND storage = @storage AND file = @file AND type = @type AND state = @from`,
    ),
    make: this.db.prepare<[FindingKey & { event: string }]>(
      `UPDATE file_finding SET state = 'made', event = @event WHERE account = @account AND storage = @storage
    AND file = @file AND type = @type AND state = 'due'`,
    ),
    late: this.db.prepare<[Omit<FileEvent, 'at'>]>(
      `UPDATE file_finding SET late_event = @event,
      state = CASE WHEN state = 'made' THEN 'made' ELSE 'reported' END
    WHERE account = @account AND storage = @storage AND file = @file AND type = @type AND late_event IS NULL`,
    ),
    tell: this.db.prepare<[FileEvent]>(
      `INSERT INTO file_event (account, storage, file, type, event, at)
    VALUES (@account, @storage, @file, @type, @event, @at) ON CONFLICT DO NOTHING`,
    ),
    told: this.db.prepare<Key, unknown>(
      'SELECT 1 AS found FROM file_event WHERE account = ? AND storage = ? AND file = ? AND type = ? LIMIT 1',
    ),
    // Index: effect_target.
    deleted: this.db.prepare<[{ target: string; account: string }], unknown>(
      `SELECT 1 AS found FROM effect AS begun
      WHERE ${isLongText('target', '@target')} AND account = @account AND class = 'delete'
        AND phase = 'begun' AND NOT EXISTS (SELECT 1 FROM effect AS ended WHERE ended.of_seq = begun.seq
        AND ${isLongText('ended.target', 'begun.target')}
        AND ended.outcome IN ('not_found', 'changed', 'dry_run')) LIMIT 1`,
    ),
  }
  readonly #books = openTexts(this.db, { table: 'file_book', key: 'id', text: 'book' })

  /**
   * Adds what a sweep found; one that is known stays. An event may have told of the file by now.
   */
  async add(findings: readonly FileFinding[]): Promise<void> {
    for (const { approval, event, lateEvent, ...finding } of findings) {
      const { account, storage, file, type } = finding
      if (!(await this.#sql.told.get(account, storage, file, type))) await this.#sql.addFinding.run(finding)
    }
  }

  /** Gives the new findings of a storage their state; those that are held wait for an approval. */
  async settle(
    { account, storage }: Pick<KeptSweep, 'account' | 'storage'>,
    { state, held }: { state: FindingState; held: RepairRequest | null },
  ): Promise<void> {
    const approval = held === null ? null : await this.#hold({ account, storage }, held)
    await this.#sql.settle.run(state, approval, account, storage)
  }

  /** The files among these of which an event of the type told. */
  async listReportedFiles(query: {
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
    for (const target of targets) if (await this.#sql.deleted.get({ target, account })) return true
    return false
  }

  async loadFileBook(): Promise<{ book: FileBook; version: number } | null> {
    return readBook(await this.#books.load(1))
  }

  /**
   * Compare-and-set of the book, with the events that were read. It also links late events. A late
   * event ends what is asked for, and stays beside what was made up.
   */
  async saveFileBook(book: FileBook, version: number, events: readonly FileEvent[]): Promise<boolean> {
    if (!(await this.#books.save(1, JSON.stringify(book), version))) return false
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

  readonly findFinding = this.readRow<[FindingKey], FileFinding>(
    `SELECT ${FINDING_COLUMNS} FROM file_finding
     WHERE account = @account AND storage = @storage AND file = @file AND type = @type`,
  )

  /** Newest first. Index: file_finding_state for few states, else file_finding_found. */
  async listFindings(query: FindingQuery): Promise<FileFinding[]> {
    const { account, storage, type, states, approval, since, limit } = query
    const conditions = given({
      'account = ?': account,
      'storage = ?': storage,
      'type = ?': type,
      'approval = ?': approval,
      'found_at >= ?': since,
    })
    if (states !== undefined) conditions.push([`state IN (${states.map((state) => `'${state}'`).join(', ')})`])
    const { where, values } = buildWhere(conditions)
    const rows = this.db.prepare<unknown[], FileFinding>(
      `SELECT ${FINDING_COLUMNS} FROM file_finding ${where} ORDER BY found_at DESC, file LIMIT ?`,
    )
    return rows.all(...values, limit)
  }

  /** Opens the approval that they wait for; one that is open already grows. */
  async #hold(
    { account, storage }: Pick<KeptSweep, 'account' | 'storage'>,
    { why, needs, now, expiresAt }: RepairRequest,
  ): Promise<string> {
    const askedBy = `repair/${account}/${storage}`
    const opening = { askedBy, account, why, needs, expiresAt, openedAt: now, workflow: '', role: null, question: null }
    const approval =
      (await this.parts.approvals.findOpen(askedBy, now)) ??
      (await this.parts.approvals.open({ kind: 'repair', ...opening }))
    const found = await this.#sql.found.all(account, storage)
    const items = found.map(({ file, type, path }) => ({
      runId: '',
      step: type,
      target: `${storage}:${file}`,
      asked: { ...NOTHING_ASKED, path },
    }))
    await this.parts.approvals.join(approval, items)
    return approval.id
  }
}

/** A made-up event asks for no state of the file. */
const NOTHING_ASKED = { expect: null, bytes: null, modifiedAt: null, input: null }
