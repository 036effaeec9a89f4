import type { Database } from 'better-sqlite3'
import type { Approval, ApprovalStatus, ItemState, Verdict } from '../../../core/safety/approval.ts'

export interface ApprovalRow {
  id: string
  kind: Approval['kind']
  hold: string
  status: ApprovalStatus
  workflow: string
  account: string
  why: string
  items: number
  bytes: number
  hash: string
  needs: number
  role: string | null
  question: string | null
  answer: string | null
  opened_at: number
  expires_at: number
  decided_at: number | null
}

export interface ItemRow {
  approval: string
  number: number
  run_id: string
  step: string
  target: string | null
  asked: string | null
  bytes: number
  hash: string
  state: ItemState
}

interface VoteRow {
  actor: string
  verdict: Verdict
  reason: string | null
  hash: string
  at: number
  isSigned: number
}

/** Index: primary keys, approval_open and approval_item_step, except where one is named. */
export function prepareApprovalStatements(db: Database) {
  return {
    find: db.prepare<[string], ApprovalRow>('SELECT * FROM approval WHERE id = ?'),
    findOpen: db.prepare<[string], ApprovalRow>(`SELECT * FROM approval WHERE hold = ? AND status = 'open'`),
    // Index: approval_hold.
    findQuestion: db
      .prepare<[string], string>(
        `SELECT id FROM approval WHERE hold = ? AND kind = 'question' ORDER BY id DESC LIMIT 1`,
      )
      .pluck(),
    insert: db.prepare(
      `INSERT INTO approval (id, kind, hold, status, workflow, account, why, items, bytes, hash, needs, role, question,
         opened_at, expires_at)
       VALUES (@id, @kind, @hold, 'open', @workflow, @account, @why, 0, 0, @hash, @needs, @role, @question, @openedAt,
         @expiresAt)`,
    ),
    grow: db.prepare('UPDATE approval SET items = items + 1, bytes = bytes + ?, hash = ? WHERE id = ?'),
    close: db.prepare(`UPDATE approval SET status = ?, decided_at = ?, answer = ? WHERE id = ? AND status = 'open'`),
    closeItems: db.prepare(`UPDATE approval_item SET state = ? WHERE approval = ? AND state = 'open'`),
    closeEmpty: db.prepare(
      `UPDATE approval SET status = 'withdrawn', decided_at = coalesce(?, opened_at) WHERE id = ? AND status = 'open'
         AND NOT EXISTS (SELECT 1 FROM approval_item WHERE approval = approval.id AND state = 'open')`,
    ),
    insertItem: db.prepare(
      `INSERT INTO approval_item (approval, number, run_id, step, target, asked, bytes, hash, state)
       VALUES (@approval, @number, @runId, @step, @target, @asked, @bytes, @hash, 'open')`,
    ),
    findItem: db.prepare<[string, string], ItemRow & Pick<ApprovalRow, 'status' | 'expires_at' | 'why'>>(
      `SELECT approval_item.*, approval.status, approval.expires_at, approval.why
       FROM approval_item JOIN approval ON approval.id = approval_item.approval
       WHERE run_id = ? AND step = ? AND state NOT IN ('withdrawn', 'moved') ORDER BY approval DESC LIMIT 1`,
    ),
    wasMoved: db
      .prepare<[string, string], number>(
        `SELECT 1 FROM approval_item WHERE run_id = ? AND step = ? AND state = 'moved' LIMIT 1`,
      )
      .pluck(),
    withdrawStep: db
      .prepare<[string, string], string>(
        `UPDATE approval_item SET state = 'withdrawn' WHERE run_id = ? AND step = ?
           AND state NOT IN ('withdrawn', 'moved') RETURNING approval`,
      )
      .pluck(),
    withdrawRun: db
      .prepare<[string], string>(
        `UPDATE approval_item SET state = 'withdrawn' WHERE run_id = ? AND state NOT IN ('withdrawn', 'moved')
         RETURNING approval`,
      )
      .pluck(),
    setItem: db.prepare('UPDATE approval_item SET state = ? WHERE approval = ? AND number = ?'),
    // Reads the list from its end, where the hash that a person saw last is.
    findByHash: db.prepare<[string, string], ItemRow>(
      'SELECT * FROM approval_item WHERE approval = ? AND hash GLOB ? ORDER BY number DESC LIMIT 1',
    ),
    items: db.prepare<[string, number, number], ItemRow>(
      'SELECT * FROM approval_item WHERE approval = ? AND number > ? ORDER BY number LIMIT ?',
    ),
    list: db.prepare<
      [{ now: number; status: string | null; workflow: string | null; before: string | null; limit: number }],
      ApprovalRow
    >(
      `SELECT * FROM approval WHERE (@before IS NULL OR id < @before)
         AND (@status IS NULL OR @status = iif(status = 'open' AND expires_at <= @now, 'expired', status))
         AND (@workflow IS NULL OR workflow = @workflow) ORDER BY id DESC LIMIT @limit`,
    ),
    count: db.prepare<[string], { openItems: number; runs: number }>(
      `SELECT coalesce(sum(state = 'open'), 0) AS openItems, count(DISTINCT run_id) AS runs
       FROM approval_item WHERE approval = ?`,
    ),
    votes: db.prepare<[string], VoteRow>(
      `SELECT actor, verdict, reason, hash, at, signature IS NOT NULL AS isSigned
       FROM approval_vote WHERE approval = ? ORDER BY at, actor`,
    ),
  }
}
