import { randomBytes } from 'node:crypto'
import { UpshotError } from '../../../core/errors.ts'
import {
  type Hook,
  type HookAnswer,
  type HookReceipt,
  type HookRecord,
  planHookEvent,
  stateOf,
} from '../../../core/incoming/hook.ts'
import { JoinedTable } from '../../connection.ts'
import { HOOK_KEY_OWNER, hookOwner, type Vault } from '../../vault.ts'
import type { OwnEvents } from '../incoming/own-events.ts'
import type { RunTable } from '../runs/run-table.ts'

interface HookRow extends Omit<HookRecord, 'data' | 'isMany' | 'isSigned' | 'isAwaited'> {
  data: string | null
  isMany: number
  scheme: string | null
  sealed: Buffer | null
}

interface HookTables {
  vault: Vault
  runs: Pick<RunTable, 'lockAll' | 'wake'>
  ownEvents: OwnEvents
}

export class HookTable extends JoinedTable<HookTables> {
  readonly #sql = {
    // Index: primary keys, except where one is named.
    key: this.db.pluck<[], Buffer>('SELECT sealed FROM hook_key WHERE number = 1'),
    saveKey: this.db.prepare<[Buffer]>('INSERT INTO hook_key (number, sealed) VALUES (1, ?) ON CONFLICT DO NOTHING'),
    insert: this.db.prepare(
      `INSERT INTO hook (id, run_id, step, account, ask, data, is_many, scheme, sealed, opened_at, expires_at)
       VALUES (@id, @runId, @step, @account, @ask, @data, @isMany, @scheme, @sealed, @openedAt, @expiresAt)
       ON CONFLICT (id) DO NOTHING`,
    ),
    find: this.db.prepare<[string], HookRow>(`SELECT hook.*, ${ANSWERS} FROM hook WHERE id = ?`),
    lock: this.db.prepare<[string], Omit<HookRow, 'answers'>>(
      `SELECT * FROM hook WHERE id = ? ${this.db.sql.forUpdate()}`,
    ),
    listOfRun: this.db.prepare<[string], HookRow>(
      `SELECT hook.*, ${ANSWERS} FROM step JOIN hook ON hook.id = step.target
       WHERE step.run_id = ? AND step.kind = 'hook' ORDER BY step.position`,
    ),
    // Index: step_hook, and the primary key of work.
    listHolders: this.db.pluck<[string], string>(`SELECT work.run_id FROM step JOIN work ON work.run_id = step.run_id
         WHERE step.kind = 'hook' AND step.target = ?`),
    // Index: primary key of hook_answer, except where one is named.
    countAnswers: this.db.pluck<[string], number>('SELECT count(*) FROM hook_answer WHERE hook = ?'),
    // Index: hook_answer_sameness.
    findSame: this.db.pluck<[string, string], number>(
      'SELECT event_seq FROM hook_answer WHERE hook = ? AND sameness = ?',
    ),
    nextAnswer: this.db.pluck<[string, number], number | null>(
      'SELECT min(event_seq) FROM hook_answer WHERE hook = ? AND event_seq > ?',
    ),
    insertAnswer: this.db.prepare('INSERT INTO hook_answer (hook, event_seq, sameness) VALUES (?, ?, ?)'),
    // Index: wait_hook.
    resolve: this.db.pluck<[number, string], string>(
      'UPDATE wait SET is_resolved = 1, event_seq = ? WHERE hook = ? AND is_resolved = 0 RETURNING run_id',
    ),
    insertDelivery: this.db.prepare(
      `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  }

  /** The key of the tokens of all hooks, as text. The first call makes it. */
  async loadHookKey(): Promise<string> {
    const known = await this.#sql.key.get()
    if (known) return this.parts.vault.open(HOOK_KEY_OWNER, known)
    await this.#sql.saveKey.run(this.parts.vault.seal(HOOK_KEY_OWNER, randomBytes(32).toString('hex')))
    // Another process may have been first.
    return this.loadHookKey()
  }

  /** Opens a hook; one that is open already stays. */
  async open(runId: string, step: string, { sign, data, ...hook }: Omit<Hook, 'runId' | 'step'>): Promise<void> {
    const sealed = sign === null ? null : this.parts.vault.seal(hookOwner(hook.id), sign.secret)
    const scheme = sign === null ? null : JSON.stringify(sign.scheme)
    await this.#sql.insert.run({
      ...hook,
      runId,
      step,
      data: data === null ? null : JSON.stringify(data),
      scheme,
      sealed,
    })
  }

  /** With its secret, for the receiver. */
  async findHook(id: string): Promise<(HookRecord & Pick<Hook, 'sign'>) | null> {
    const row = await this.#sql.find.get(id)
    if (!row) return null
    const { scheme, sealed } = row
    const isSigned = scheme !== null && sealed !== null
    const sign = isSigned ? { scheme: JSON.parse(scheme), secret: this.parts.vault.open(hookOwner(id), sealed) } : null
    return { ...readHook(row, (await this.#sql.listHolders.all(id)).length > 0), sign }
  }

  /** The hooks of a run, those that its fork kept included, in the order of their steps. */
  async listHooks(runId: string): Promise<HookRecord[]> {
    const rows = await this.#sql.listOfRun.all(runId)
    return Array.fromAsync(rows, async (row) => readHook(row, (await this.#sql.listHolders.all(row.id)).length > 0))
  }

  /**
   * Saves an answer as an event, with its delivery, and wakes the runs that wait for it. Throws
   * `conflict` for a person whose answer is not taken.
   */
  async answerHook(answer: HookAnswer): Promise<HookReceipt> {
    const receipt = await this.#take(answer)
    if (answer.by === null || receipt.verdict === 'accepted' || receipt.verdict === 'duplicate') return receipt
    throw new UpshotError('conflict', REFUSALS[receipt.verdict])
  }

  /** The number of the first answer after those that a run has taken; null: none came so far. */
  async findAnswer(id: string, after: number): Promise<number | null> {
    // The lock lets one of two see the other: a wait that begins, and an answer that comes.
    await this.#sql.lock.get(id)
    return (await this.#sql.nextAnswer.get(id, after)) ?? null
  }

  /** Runs that may wait are locked first, as by every write that goes on to lock more. */
  async #take(answer: HookAnswer): Promise<HookReceipt> {
    const { hook: id, receivedAt, sameness } = answer
    const holders = await this.#sql.listHolders.all(id)
    await this.parts.runs.lockAll(holders)
    const row = await this.#sql.lock.get(id)
    if (row === undefined) return refuse('unknown_hook')
    const same = await this.#sql.findSame.get(id, sameness)
    const hook = readHook({ ...row, answers: (await this.#sql.countAnswers.get(id)) ?? 0 }, holders.length > 0)
    const event = planHookEvent(hook, answer)
    if (same !== undefined) return this.#tell(answer, { event, seq: same, verdict: 'duplicate', resolved: 0 })
    const state = stateOf(hook, receivedAt)
    if (state === 'answered') return refuse(hook.isAwaited && receivedAt < hook.expiresAt ? 'answered' : 'closed')
    if (state !== 'open') return refuse('closed')
    const seq = await this.parts.ownEvents.tell(event)
    if (seq === null) throw new Error(`event ${event.id} is known, and no answer of hook ${id}`)
    await this.#sql.insertAnswer.run(id, seq, sameness)
    const waiting = await this.#sql.resolve.all(seq, id)
    for (const run of waiting) await this.parts.runs.wake(run)
    return this.#tell(answer, { event, seq, verdict: 'accepted', resolved: waiting.length })
  }

  /** Writes the delivery of an answer, and says what became of it. */
  async #tell(
    { delivery, receivedAt, bodyBytes, facts }: HookAnswer,
    {
      event,
      seq,
      verdict,
      resolved,
    }: { event: HookReceipt['event'] & {}; seq: number } & Pick<HookReceipt, 'verdict' | 'resolved'>,
  ): Promise<HookReceipt> {
    const { id, type, account } = event
    if (delivery !== null)
      await this.#sql.insertDelivery.run(delivery, null, receivedAt, verdict, id, seq, bodyBytes, JSON.stringify(facts))
    return { verdict, event: { id, type, account }, resolved }
  }
}

const REFUSALS = {
  answered: 'The hook has another answer already, and takes one only.',
  closed: 'The hook takes no answer any more: it has expired, or its run has ended.',
  unknown_hook: 'There is no such hook any more.',
}

function refuse(verdict: HookReceipt['verdict']): HookReceipt {
  return { verdict, event: null, resolved: 0 }
}

function readHook({ data, isMany, scheme, sealed: _, ...row }: HookRow, isAwaited: boolean): HookRecord {
  return {
    ...row,
    isAwaited,
    isMany: isMany === 1,
    isSigned: scheme !== null,
    data: data === null ? null : JSON.parse(data),
  }
}

const ANSWERS = '(SELECT count(*) FROM hook_answer WHERE hook_answer.hook = hook.id) AS answers'
