import { newId } from '../../../core/ids.ts'
import { toStorable } from '../../../core/runs/step.ts'
import type { Question } from '../../../core/runs/wait.ts'
import { chainHash, planApprovalEvent, QUESTION, seedHash } from '../../../core/safety/approval.ts'
import { JoinedTable } from '../../connection.ts'
import { ofRun } from '../../rows/run-sql.ts'
import type { OwnEvents } from '../incoming/own-events.ts'
import {
  type ApprovalRow,
  type Carrying,
  type Closing,
  type FoundItem,
  IS_ASKED_FOR,
  type ItemRow,
  MAX_CARRIED,
  type NewItem,
  type Opening,
} from './approval-search.ts'

/** Approvals and the lists that they are for. Each that opens or ends makes an event. */
export class ApprovalTable extends JoinedTable<{ ownEvents: OwnEvents }> {
  readonly #sql = {
    // Index: primary keys and approval_open, except where one is named.
    findOpen: this.db.prepare<[string], ApprovalRow>(`SELECT * FROM approval WHERE asked_by = ? AND status = 'open'`),
    insert: this.db.prepare(
      `INSERT INTO approval (id, kind, asked_by, status, workflow, account, why, items, bytes, hash, needs, role,
         question, opened_at, expires_at)
       VALUES (@id, @kind, @askedBy, 'open', @workflow, @account, @why, 0, 0, @hash, @needs, @role,
         @question, @openedAt, @expiresAt)`,
    ),
    grow: this.db.prepare('UPDATE approval SET items = ?, bytes = ?, hash = ? WHERE id = ?'),
    close: this.db.prepare(
      `UPDATE approval SET status = ?, decided_at = ?, answer = ?, carrying = ? WHERE id = ? AND status = 'open'`,
    ),
    closeEmpty: this.db.prepare(
      `UPDATE approval SET status = 'withdrawn', decided_at = coalesce(?, opened_at)
       WHERE id = ? AND status = 'open'
         AND NOT EXISTS (SELECT 1 FROM approval_item WHERE approval = approval.id AND state = 'open')`,
    ),
    // Index: primary key, approval_item_step and approval_item_open.
    insertItems: this.db.prepare<[string, string]>(
      `INSERT INTO approval_item (approval, number, run_id, step, target, asked, bytes, hash, state, fence)
       SELECT ?, CAST(value ->> 0 AS bigint), value ->> 1, value ->> 2, value ->> 3, value ->> 4,
         CAST(value ->> 5 AS bigint), value ->> 6, 'open',
         coalesce(CAST(value ->> 7 AS bigint), ${ofRun('fence', 'value ->> 1')}, 0)
       FROM ${this.db.sql.rows}`,
    ),
    withdrawStep: this.db.pluck<
      [string, string],
      string
    >(`UPDATE approval_item SET state = 'withdrawn' WHERE run_id = ? AND step = ?
           AND state NOT IN ('withdrawn', 'moved') RETURNING approval`),
  }

  /** The open approval of a limit or step; one that is over expires first, and is none. */
  async findOpen(askedBy: string, now: number): Promise<ApprovalRow | null> {
    const found = await this.#sql.findOpen.get(askedBy)
    if (!found) return null
    if (found.expiresAt > now) return found
    await this.expire(found.id, now)
    return null
  }

  async open(asked: Opening): Promise<ApprovalRow> {
    const opening = { ...asked, why: toStorable(asked.why) }
    const { id = newId('apr', opening.openedAt) } = opening
    const question = opening.question === null ? null : JSON.parse(opening.question)
    const hash = seedHash({ ...opening, id, question })
    await this.#sql.insert.run({ ...opening, id, hash })
    const { openedAt, expiresAt } = opening
    await this.parts.ownEvents.tell(planApprovalEvent({ ...opening, id, expiresAt }, openedAt, null))
    return await this.require(id)
  }

  /** The items of steps that are neither withdrawn nor moved. The last one of a step counts. */
  readonly listItems = this.readRows<[runId: string, steps: readonly string[]], FoundItem>(
    `SELECT approval_item.*, approval.kind, approval.status, approval.expires_at, approval.why, approval.carrying
     FROM approval_item JOIN approval ON approval.id = approval_item.approval
     WHERE run_id = ? AND ${this.db.sql.isOneOf('step', 'text')} AND state NOT IN ('withdrawn', 'moved')
       AND ${IS_ASKED_FOR}
     ORDER BY approval`,
  )

  /** True where an item before this one of its list has the state. Index: primary key. */
  readonly hasEarlier = this.hasRow<[approval: string, number: number, state: ItemRow['state']]>(
    'SELECT 1 FROM approval_item WHERE approval = ? AND number < ? AND state = ? LIMIT 1',
  )

  /** True where a person left the step's effect out of what they approved. */
  readonly wasLeftOut = this.hasRow<[runId: string, step: string]>(
    `SELECT 1 FROM approval_item WHERE run_id = ? AND step = ? AND state = 'moved' LIMIT 1`,
  )

  /** Appends effects to the list of an open approval, in one message: sweeps bring thousands. */
  async join(approval: ApprovalRow, items: readonly NewItem[]): Promise<void> {
    const rows = items.map(({ runId, step, target: given, asked, fence = null }) => {
      const target = given === null ? null : toStorable(given)
      const hash = chainHash(approval.hash, { runId, step, target, asked })
      const number = approval.items + 1
      const bytes = asked?.bytes ?? 0
      Object.assign(approval, { items: number, hash, bytes: approval.bytes + bytes })
      return [number, runId, step, target, asked && JSON.stringify(asked), bytes, hash, fence]
    })
    await this.#sql.insertItems.run(approval.id, JSON.stringify(rows))
    await this.#sql.grow.run(approval.items, approval.bytes, approval.hash, approval.id)
  }

  /** Takes the item of a step back; an approval without any is withdrawn. */
  async withdrawStep(runId: string, step: string, now: number): Promise<void> {
    for (const id of await this.#sql.withdrawStep.all(runId, step)) await this.closeEmpty(id, now)
  }

  /** Withdraws an open approval that has no item left. */
  async closeEmpty(id: string, now: number | null): Promise<void> {
    if ((await this.#sql.closeEmpty.run(now, id)).changes === 1) await this.tellEnd(id, { by: [], reason: null })
  }

  /**
   * Ends an open approval, whose items are told next, and then `tellEnd`; false where it has ended
   * already.
   */
  async close(id: string, { status, now, answer = null, granted = null }: Closing & { now: number }): Promise<boolean> {
    const carrying: Carrying = { granted, after: QUESTION - 1 }
    const { changes } = await this.#sql.close.run(status, now, answer, JSON.stringify(carrying), id)
    return changes === 1
  }

  /** An ended approval whose decision is not carried out. Index: approval_carrying. */
  readonly findCarrying = this.readRow<[], ApprovalRow>(
    'SELECT * FROM approval WHERE carrying IS NOT NULL ORDER BY id LIMIT 1',
  )

  /** Items that are still open, in their order, numbered above `after`. */
  readonly openItems = this.readRows<[approval: string, after: number, limit: number], ItemRow>(
    `SELECT * FROM approval_item WHERE approval = ? AND number > ? AND state = 'open' AND ${IS_ASKED_FOR}
     ORDER BY number LIMIT ?`,
  )

  readonly openNumbers = this.readValues<[approval: string], number>(
    `SELECT number FROM approval_item
     WHERE approval = ? AND state = 'open' AND number > ${QUESTION} AND ${IS_ASKED_FOR}`,
  )

  /** Tells items their state. */
  readonly tell = this.write(
    `UPDATE approval_item SET state = ? WHERE approval = ? AND ${this.db.sql.isOneOf('number', 'bigint')}`,
    (approval: string, numbers: readonly number[], state: ItemRow['state']) => [state, approval, numbers],
  )

  /** Notes how far a decision is carried out; null: to its end. */
  readonly carry = this.write(
    'UPDATE approval SET carrying = ? WHERE id = ?',
    (approval: string, carrying: Carrying | null) => [carrying && JSON.stringify(carrying), approval],
  )

  /** Ends an approval that nobody decided in time. Later commits tell the rest of a long list. */
  async expire(id: string, now: number): Promise<void> {
    if (!(await this.close(id, { status: 'expired', now }))) return
    const items = await this.openItems(id, QUESTION - 1, MAX_CARRIED)
    await this.tell(
      id,
      items.map(({ number }) => number),
      'expired',
    )
    const after = items.length === MAX_CARRIED ? items.at(-1)?.number : undefined
    await this.carry(id, after === undefined ? null : { granted: null, after })
    await this.tellEnd(id, { by: [], reason: null })
  }

  /** Makes the event of an end. Its stream is locked from here on, so that runs come first. */
  async tellEnd(id: string, { by = [], reason = null }: Pick<Closing, 'by' | 'reason'>): Promise<void> {
    const { decidedAt: at, openedAt, expiresAt, ...row } = await this.require(id)
    const { status, items } = row
    const { kind, workflow, account, why, needs, role } = row
    const about = { id, kind, workflow, account, why, needs, role, expiresAt }
    await this.parts.ownEvents.tell(planApprovalEvent(about, at ?? openedAt, { status, items, by, reason }))
  }

  readonly find = this.readRow<[id: string], ApprovalRow>('SELECT * FROM approval WHERE id = ?')

  async require(id: string): Promise<ApprovalRow> {
    const row = await this.find(id)
    if (row === null) throw new Error(`approval ${id} was just written`)
    return row
  }

  /** Items whose hash begins with these digits: two at most, the last one first. */
  readonly findByHash = this.readRows<[{ approval: string; digits: string }], ItemRow>(
    `SELECT * FROM approval_item WHERE approval = @approval AND substr(hash, 1, length(@digits)) = @digits
     ORDER BY number DESC LIMIT 2`,
  )

  /** Opens the approval of a question; one that is open already stays. */
  async ask(runId: string, step: string, question: Question): Promise<string> {
    const { workflow, account, ask: why, show, answer, effects, needs, role, openedAt, expiresAt } = question
    const askedBy = `question/${runId}/${step}`
    const known = await this.#sql.findOpen.get(askedBy)
    if (known) return known.id
    const text = JSON.stringify({ runId, step, show, answer })
    const opening = { kind: 'question', askedBy, workflow, account, why, needs, role, question: text } as const
    const approval = await this.open({ ...opening, openedAt, expiresAt })
    approval.items = QUESTION - 1
    const subject = { runId, step, target: null, asked: null }
    await this.join(approval, [subject, ...effects.map((effect) => ({ runId, ...effect }))])
    return approval.id
  }
}
