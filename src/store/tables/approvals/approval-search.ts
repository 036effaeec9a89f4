import { type Approval, type ApprovalItem, QUESTION } from '../../../core/safety/approval.ts'
import type { ApprovalFilter } from '../../../core/store/safety/approvals.ts'
import type { Connection } from '../../connection.ts'
import { type ApprovalRow, IS_ASKED_FOR, type ItemRow, type VoteRow } from '../../rows/approvals/approval-rows.ts'
import { afterAll } from '../../rows/build-where.ts'
import { readApproval } from './read-approval.ts'
import { readItem } from './read-item.ts'

/** Approvals and their lists, as people read them. */
export class ApprovalSearch {
  readonly #sql

  constructor(db: Connection) {
    this.#sql = { ...prepareLists(db), ...prepareFacts(db) }
  }

  async findQuestion(runId: string, step: string, now: number): Promise<Approval | null> {
    const id = await this.#sql.findQuestion.get(`question/${runId}/${step}`)
    return id === undefined ? null : await this.read(id, now)
  }

  async list({
    limit,
    now,
    status,
    workflow,
    before,
  }: ApprovalFilter & { limit: number; now: number }): Promise<Approval[]> {
    const list = status === 'open' ? this.#sql.listOpen : this.#sql.list
    const filter = { status: status ?? null, workflow: workflow ?? null, before: before ?? null }
    const rows = await list.all({ ...filter, now, limit })
    return Array.fromAsync(rows, (row) => this.#describe(row, now))
  }

  async read(id: string, now: number): Promise<Approval | null> {
    const row = await this.#sql.find.get(id)
    return row ? await this.#describe(row, now) : null
  }

  async ids(beginning: string, limit: number): Promise<string[]> {
    return await this.#sql.ids.all(beginning, afterAll(beginning), limit)
  }

  /** Items in their order, numbered above `after`. */
  async listItems(approval: string, after: number, limit: number): Promise<ApprovalItem[]> {
    return (await this.#sql.items.all(approval, after, limit)).map(readItem)
  }

  async #describe(row: ApprovalRow, now: number): Promise<Approval> {
    const counts = await this.#sql.count.get(row.id)
    return readApproval(row, { counts, votes: await this.#sql.votes.all(row.id), now })
  }
}

/** One approval with its list. Index: primary keys, except where one is named. */
function prepareFacts(db: Connection) {
  return {
    find: db.prepare<[string], ApprovalRow>('SELECT * FROM approval WHERE id = ?'),
    // Index: approval_hold.
    findQuestion: db.pluck<[string], string>(
      `SELECT id FROM approval WHERE hold = ? AND kind = 'question' ORDER BY id DESC LIMIT 1`,
    ),
    count: db.prepare<[string], { openItems: number; runs: number }>(
      `SELECT count(*) FILTER (WHERE state = 'open' AND number > ${QUESTION} AND ${IS_ASKED_FOR}) AS openItems,
         count(DISTINCT run_id) AS runs
       FROM approval_item WHERE approval = ?`,
    ),
    votes: db.prepare<[string], VoteRow>(
      `SELECT actor, verdict, reason, hash, answer, at, CASE WHEN signature IS NULL THEN 0 ELSE 1 END AS isSigned
       FROM approval_vote WHERE approval = ? ORDER BY at, actor`,
    ),
    items: db.prepare<[string, number, number], ItemRow>(
      'SELECT * FROM approval_item WHERE approval = ? AND number > ? ORDER BY number LIMIT ?',
    ),
  }
}

interface ListQuery {
  now: number
  status: string | null
  workflow: string | null
  before: string | null
  limit: number
}

/** Index: primary key, or approval_open. */
function prepareLists(db: Connection) {
  return {
    list: db.prepare<[ListQuery], ApprovalRow>(
      `SELECT * FROM approval WHERE (CAST(@before AS text) IS NULL OR id < @before)
         AND (CAST(@status AS text) IS NULL
           OR @status = CASE WHEN status = 'open' AND expires_at <= @now THEN 'expired' ELSE status END)
         AND (CAST(@workflow AS text) IS NULL OR workflow = @workflow) ORDER BY id DESC LIMIT @limit`,
    ),
    // Index: primary key.
    ids: db.pluck<[string, string, number], string>(
      'SELECT id FROM approval WHERE id >= ? AND id < ? ORDER BY id LIMIT ?',
    ),
    // Index: approval_open, so that the overview reads no history.
    listOpen: db.prepare<[ListQuery], ApprovalRow>(
      `SELECT * FROM approval ${db.sql.along('approval_open')} WHERE status = 'open' AND expires_at > @now
         AND CAST(@status AS text) IS NOT NULL AND (CAST(@before AS text) IS NULL OR id < @before)
         AND (CAST(@workflow AS text) IS NULL OR workflow = @workflow)
       ORDER BY id DESC LIMIT @limit`,
    ),
  }
}
