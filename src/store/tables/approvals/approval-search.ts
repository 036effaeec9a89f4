import {
  type Approval,
  type ApprovalItem,
  type ApprovalStatus,
  type ApprovalTerms,
  type ItemState,
  QUESTION,
  type Verdict,
} from '../../../core/safety/approval.ts'
import { type Asked, describeAsked } from '../../../core/safety/effect.ts'
import { Table } from '../../connection.ts'
import { buildWhere, given } from '../../rows/build-where.ts'
import { prepareIds } from '../prepare-ids.ts'

/** Selects approvals; every part narrows. */
interface ApprovalFilter {
  status?: ApprovalStatus
  workflow?: string
  /** Before the approval with this id: the last one of the page before. */
  before?: string
}

/** Approvals and their lists, as people read them. */
export class ApprovalSearch extends Table {
  readonly #sql = {
    // One approval with its list. Index: primary keys, except where one is named.
    find: this.db.prepare<[string], ApprovalRow>('SELECT * FROM approval WHERE id = ?'),
    // Index: approval_asked_by.
    findQuestion: this.db.pluck<[string], string>(
      `SELECT id FROM approval WHERE asked_by = ? AND kind = 'question' ORDER BY id DESC LIMIT 1`,
    ),
    count: this.db.prepare<[string[]], { approval: string; openItems: number; runs: number }>(
      `SELECT approval, count(DISTINCT run_id) AS runs,
         count(*) FILTER (WHERE state = 'open' AND number > ${QUESTION} AND ${IS_ASKED_FOR}) AS open_items
       FROM approval_item WHERE ${this.db.sql.isOneOf('approval', 'text')} GROUP BY approval`,
    ),
    votes: this.db.prepare<[string[]], VoteRow>(
      `SELECT approval, actor, verdict, reason, hash, answer, at,
         CASE WHEN signature IS NULL THEN 0 ELSE 1 END AS is_signed
       FROM approval_vote WHERE ${this.db.sql.isOneOf('approval', 'text')} ORDER BY at, actor`,
    ),
    items: this.db.prepare<[string, number, number], ItemRow>(
      'SELECT * FROM approval_item WHERE approval = ? AND number > ? ORDER BY number LIMIT ?',
    ),
  }

  /** The approval that a question of `step.approve` opened; null while there is none. */
  async findQuestion(runId: string, step: string, now: number): Promise<Approval | null> {
    const id = await this.#sql.findQuestion.get(`question/${runId}/${step}`)
    return id === undefined ? null : await this.findApproval(id, now)
  }

  /** Newest first. Index: approval_open, so that the overview reads no history; or primary key. */
  async listApprovals({
    limit,
    now,
    status,
    workflow,
    before,
  }: ApprovalFilter & { limit: number; now: number }): Promise<Approval[]> {
    const conditions = given({ 'id < ?': before, 'workflow = ?': workflow })
    if (status === 'open') conditions.push([`status = 'open' AND expires_at > ?`, now])
    else if (status !== undefined)
      conditions.push([`CASE WHEN status = 'open' AND expires_at <= ? THEN 'expired' ELSE status END = ?`, now, status])
    const { where, values } = buildWhere(conditions)
    const index = status === 'open' ? this.db.sql.along('approval_open') : ''
    const list = this.db.prepare<unknown[], ApprovalRow>(
      `SELECT * FROM approval ${index} ${where} ORDER BY id DESC LIMIT ?`,
    )
    return this.#describe(await list.all(...values, limit), now)
  }

  async findApproval(id: string, now: number): Promise<Approval | null> {
    const [found = null] = await this.#describe(await this.#sql.find.all(id), now)
    return found
  }

  /** Ids that begin so, oldest first. */
  readonly listApprovalIds = prepareIds(this.db, 'approval')

  /** In their order, numbered above `after`. */
  async listApprovalItems({
    approval,
    after = 0,
    limit,
  }: {
    approval: string
    after?: number
    limit: number
  }): Promise<ApprovalItem[]> {
    return (await this.#sql.items.all(approval, after, limit)).map(readItem)
  }

  async #describe(rows: readonly ApprovalRow[], now: number): Promise<Approval[]> {
    if (rows.length === 0) return []
    const ids = rows.map(({ id }) => id)
    const counts = new Map((await this.#sql.count.all(ids)).map((each) => [each.approval, each]))
    const votes = Map.groupBy(await this.#sql.votes.all(ids), ({ approval }) => approval)
    return rows.map((row) => readApproval(row, { counts: counts.get(row.id), votes: votes.get(row.id) ?? [], now }))
  }
}

/** The facts beside the row of an approval. */
interface ApprovalFacts {
  /** Effects that are still open; runs with an item of the list. */
  counts: { openItems: number; runs: number } | undefined
  votes: readonly VoteRow[]
  now: number
}

/** An open approval whose time is over is shown as expired. */
function readApproval(row: ApprovalRow, { counts, votes, now }: ApprovalFacts): Approval {
  const { openItems, runs } = counts ?? { openItems: 0, runs: 0 }
  const { askedBy: _askedBy, carrying: _carrying, question, ...shown } = row
  const isOver = row.status === 'open' && row.expiresAt <= now
  return {
    ...shown,
    status: isOver ? 'expired' : row.status,
    openItems,
    runs,
    question: question === null ? null : JSON.parse(question),
    votes: votes.map(({ approval: _approval, isSigned, ...vote }) => ({ ...vote, isSigned: isSigned === 1 })),
  }
}

/** The terms of an approval, which its hash covers beside its list. */
export function readTerms(row: ApprovalRow): ApprovalTerms {
  const { id, kind, workflow, account, why, needs, role, question, expiresAt } = row
  return { id, kind, workflow, account, why, needs, role, question: question && JSON.parse(question), expiresAt }
}

export interface ApprovalRow extends Omit<Approval, 'openItems' | 'runs' | 'votes' | 'question'> {
  askedBy: string
  question: string | null
  carrying: string | null
}

export interface ItemRow extends Omit<ApprovalItem, 'asked'> {
  approval: string
  asked: string | null
  bytes: number
  /** The run's fence when it asked. */
  fence: number
}

interface VoteRow {
  approval: string
  actor: string
  verdict: Verdict
  reason: string | null
  hash: string
  answer: string | null
  at: number
  isSigned: number
}

/** The first facts of an approval. */
export interface Opening
  extends Pick<ApprovalRow, 'kind' | 'askedBy' | 'workflow' | 'account' | 'why' | 'needs' | 'role'> {
  question: string | null
  openedAt: number
  expiresAt: number
  /** Default: a new one. */
  id?: string
}

/** How far a decision about a long list is carried out. */
export interface Carrying {
  /** Numbers of the items that were approved; null where none was. */
  granted: readonly { from: number; to: number }[] | null
  /** Number of the last item that is told. */
  after: number
}

/** Items of a decision, or runs, that one commit carries out. See decision 81. */
export const MAX_CARRIED = 250

/** SQL: an item's run has not ended or begun anew since it asked. See decision 82. */
export const IS_ASKED_FOR = `NOT EXISTS (SELECT 1 FROM withdrawal
  WHERE withdrawal.run_id = approval_item.run_id AND withdrawal.fence >= approval_item.fence)`

/** SQL: a wait is over. That of a held effect also is once the effect asks again. */
export const IS_OVER = `(wait.is_resolved = 1 OR wait.round < (SELECT asking_again.round FROM asking_again
  WHERE what = CASE wait.approval WHEN 'stop' THEN 'stop' ELSE 'guard' END))`

export interface Closing {
  status: ApprovalStatus
  /** Numbers of the items that were approved. Default: none. */
  granted?: Carrying['granted']
  /** The people whose words decided it. Default: nobody. */
  by?: readonly string[]
  reason?: string | null
  /** JSON text of a typed answer. */
  answer?: string | null
}

export type FoundItem = ItemRow & Pick<ApprovalRow, 'kind' | 'status' | 'expiresAt' | 'why' | 'carrying'>

/** An item's state, also where the decision about its list is not carried out that far. */
export function stateOf({ state, status, number, carrying }: FoundItem): ItemState {
  if (state !== 'open' || status === 'open' || carrying === null) return state
  if (status !== 'approved') return status
  return isGranted(JSON.parse(carrying), number) ? 'approved' : 'open'
}

export function isGranted({ granted }: Pick<Carrying, 'granted'>, number: number): boolean {
  return granted?.some(({ from, to }) => number >= from && number <= to) ?? false
}

/** An effect that joins the list of an approval. */
export interface NewItem extends Pick<ApprovalItem, 'runId' | 'step' | 'target' | 'asked'> {
  /** For an item that moves. Default: that of the run. */
  fence?: number
}

export function readItem(row: ItemRow): ApprovalItem {
  const { number, runId, step, target, hash, state } = row
  return { number, runId, step, target, asked: readAsked(row.asked), hash, state }
}

export function readAsked(text: string | null): Asked | null {
  return text === null ? null : JSON.parse(text)
}

/** True where a stored state is the one that is asked for now. */
export function isAskedAgain(stored: string | null, asked: Asked | null): boolean {
  return describeAsked(readAsked(stored)) === describeAsked(asked)
}
