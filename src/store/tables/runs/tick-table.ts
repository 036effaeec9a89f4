import { UpshotError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { PAUSED_REASON, QUEUED_TICK_REASON, type RunStatus } from '../../../core/runs/run.ts'
import type { CronTrigger, DueTick, Overlap, ScheduleRecord, TickOptions } from '../../../core/runs/schedule.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { Connection } from '../../connection.ts'

interface ScheduleRow {
  workflow: string
  trigger: string
  started_at: number | null
  paused_at: number | null
  missed: number | null
  skipped: number | null
  suppressed: number | null
  last_tick_at: number | null
  unfinished: number
}

interface Blocker {
  id: string
  reason: string | null
}

interface TickRun {
  run: string
  workflow: string
  account: string
  status: RunStatus
  reason: string | null
  tickAt: number
  now: number
  origin: 'tick' | 'manual'
}

/** Schedules and their ticks. */
export class TickTable {
  readonly #db: Connection
  readonly #schedule
  readonly #start
  readonly #insert
  readonly #insertRun
  readonly #insertWork
  readonly #insertSkipped
  readonly #startQueued
  readonly #get
  readonly #before
  readonly #settle
  readonly #note
  readonly #skip
  readonly #suppress
  readonly #pause
  readonly #blockers
  readonly #list
  readonly #runOf

  constructor(db: Connection) {
    this.#db = db
    // Index: primary keys of schedule, tick and workflow, down to the next comment.
    this.#schedule = db.prepare<
      [string],
      { expression: string; started_at: number; handled_at: number; paused_at: number | null; noted: number }
    >(
      `SELECT expression, started_at, handled_at, paused_at, noted FROM schedule WHERE workflow = ?
       ${db.sql.forUpdate()}`,
    )
    this.#start = db.prepare(
      `INSERT INTO schedule (workflow, expression, started_at) VALUES (?, ?, ?)
       ON CONFLICT (workflow) DO UPDATE
         SET expression = excluded.expression, started_at = excluded.started_at, handled_at = 0, noted = 0`,
    )
    this.#insert = db.prepare(
      `INSERT INTO tick (workflow, scheduled_for, account, recorded_at, missed, run_id, is_manual)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workflow, scheduled_for, account) DO NOTHING`,
    )
    this.#insertRun = db.prepare<[TickRun]>(
      `INSERT INTO run (id, workflow, tick_at, account, created_at, origin, since_seq)
       VALUES (@run, @workflow, @tickAt, @account, @now, @origin, ${db.sql.newestEvent('@account')})`,
    )
    this.#insertWork = db.prepare<[TickRun]>(
      `INSERT INTO work (run_id, workflow, status, reason, tick_at, tick_account, rank)
       VALUES (@run, @workflow, @status, @reason, @tickAt, @account, -coalesce(
         (SELECT priority FROM workflow WHERE id = @workflow), 0))`,
    )
    this.#insertSkipped = db.prepare<[TickRun]>(
      `INSERT INTO outcome (run_id, workflow, status, reason, rank, fence, attempt, finished_at)
       VALUES (@run, @workflow, @status, @reason, 0, 0, 0, @now)`,
    )
    this.#startQueued = db.prepare<[{ workflow: string; account: string }]>(
      `UPDATE work SET status = 'pending', reason = NULL WHERE run_id = (
         SELECT run_id FROM work WHERE workflow = @workflow AND tick_account = @account AND tick_at IS NOT NULL
           AND status = 'waiting'
           AND reason = '${QUEUED_TICK_REASON}' ORDER BY tick_at LIMIT 1)
       AND NOT EXISTS (SELECT 1 FROM work WHERE workflow = @workflow AND tick_account = @account AND tick_at IS NOT NULL
         AND reason IS DISTINCT FROM '${QUEUED_TICK_REASON}')`,
    )
    this.#get = db
      .prepare<[string, number, string], number>(
        'SELECT missed FROM tick WHERE workflow = ? AND scheduled_for = ? AND account = ?',
      )
      .pluck()
    this.#before = db
      .prepare<[string, number, string], number>(
        `SELECT scheduled_for FROM tick WHERE workflow = ? AND scheduled_for < ? AND account = ?
         ORDER BY scheduled_for DESC LIMIT 1`,
      )
      .pluck()
    this.#settle = db.prepare(
      `UPDATE schedule SET handled_at = @at, missed = missed + @missed - noted, noted = 0
       WHERE workflow = @workflow AND handled_at < @at`,
    )
    this.#note = db.prepare(
      'UPDATE schedule SET missed = missed + @missed - noted, noted = @missed WHERE workflow = @workflow',
    )
    this.#skip = db.prepare('UPDATE schedule SET skipped = skipped + 1 WHERE workflow = ?')
    this.#suppress = db.prepare(
      `UPDATE schedule SET handled_at = @at, missed = missed + @missed - noted, noted = 0,
         suppressed = suppressed + 1
       WHERE workflow = @workflow AND handled_at < @at`,
    )
    this.#pause = db.prepare(
      `UPDATE schedule SET paused_at = ?, started_at = ${db.sql.greatest}(started_at, ?), noted = 0 WHERE workflow = ?`,
    )
    // Index: work_ticking.
    this.#blockers = db.prepare<[string, string], Blocker>(
      `SELECT run_id AS id, reason FROM work WHERE workflow = ? AND tick_account = ? AND tick_at IS NOT NULL
       ORDER BY tick_at`,
    )
    // Reads all workflows, a few dozen. Index: primary keys, and work_ticking for the count.
    this.#list = db.prepare<[], ScheduleRow>(
      `SELECT id AS workflow, workflow.schedule AS trigger, started_at, paused_at, missed, skipped, suppressed,
         (SELECT max(scheduled_for) FROM tick WHERE tick.workflow = workflow.id) AS last_tick_at,
         (SELECT count(*) FROM work WHERE work.workflow = workflow.id AND work.tick_at IS NOT NULL) AS unfinished
       FROM workflow LEFT JOIN schedule ON schedule.workflow = workflow.id
       WHERE workflow.schedule IS NOT NULL ORDER BY id`,
    )
    this.#runOf = db
      .prepare<[string, number], string>('SELECT run_id FROM tick WHERE workflow = ? AND scheduled_for = ?')
      .pluck()
  }

  /** The moment after which ticks are due: now for a new or changed line, which has no past. */
  async start(workflow: string, expression: string, now: number): Promise<number> {
    const known = await this.#schedule.get(workflow)
    if (known?.expression !== expression) {
      await this.#start.run(workflow, expression, now)
      return now
    }
    return Math.max(known.started_at, known.handled_at)
  }

  /** Counts moments after `since` that have no tick, before a tick tells of them. */
  async noteMissed(workflow: string, missed: number, since: number): Promise<number> {
    const known = await this.#schedule.get(workflow)
    if (!known || known.paused_at !== null || Math.max(known.started_at, known.handled_at) !== since) return 0
    if (known.noted >= missed) return 0
    await this.#note.run({ workflow, missed })
    return missed - known.noted
  }

  /** Records a tick and makes its run; null if it is recorded already or the schedule is paused. */
  async record(
    workflow: string,
    { scheduledFor, missed }: DueTick,
    now: number,
    options: TickOptions = {},
  ): Promise<string | null> {
    const { overlap = 'allow', account = DEFAULT_ACCOUNT, isLast = true, isManual = false } = options
    const at = { workflow, at: scheduledFor, missed }
    if (!isManual && ((await this.#schedule.get(workflow))?.paused_at ?? null) !== null) {
      if (isLast) await this.#suppress.run(at)
      return null
    }
    const run = newId('run', now)
    await this.#db.lock('tick', workflow)
    const inserted = await this.#insert.run(workflow, scheduledFor, account, now, missed, run, isManual ? 1 : 0)
    const isNew = inserted.changes === 1
    const start = isNew ? await this.#decideStart(workflow, account, overlap) : null
    const isSkipped = start?.status === 'skipped'
    if (start) {
      const origin = isManual ? 'manual' : 'tick'
      const row: TickRun = { run, workflow, account, ...start, tickAt: scheduledFor, now, origin }
      await this.#insertRun.run(row)
      await (isSkipped ? this.#insertSkipped : this.#insertWork).run(row)
    }
    if (isSkipped && !isManual) await this.#skip.run(workflow)
    if (isLast && !isManual) await this.#settle.run(at)
    return isNew ? run : null
  }

  /** Lets the next queued tick go on, if no other of its workflow and account is unfinished. */
  async startQueued(workflow: string, account: string): Promise<void> {
    await this.#db.lock('tick', workflow)
    await this.#startQueued.run({ workflow, account })
  }

  /** A tick of an account, with the account's moment before it. */
  async get(workflow: string, scheduledFor: number, account: string) {
    return {
      account,
      scheduledFor,
      lastRunAt: (await this.#before.get(workflow, scheduledFor, account)) ?? null,
      missed: (await this.#get.get(workflow, scheduledFor, account)) ?? 0,
    }
  }

  async pause(workflow: string, isPaused: boolean, now: number): Promise<boolean> {
    const known = await this.#schedule.get(workflow)
    if (!known) throw new UpshotError('not_found', `The workflow "${workflow}" has no schedule.`)
    if ((known.paused_at !== null) === isPaused) return false
    // After a pause the schedule starts now, so moments during the pause are not caught up.
    await this.#pause.run(isPaused ? now : null, isPaused ? 0 : now, workflow)
    return true
  }

  async list(): Promise<ScheduleRecord[]> {
    const rows = await this.#list.all()
    return Array.fromAsync(rows, async (row) => ({
      workflow: row.workflow,
      trigger: JSON.parse(row.trigger) as CronTrigger,
      startedAt: row.started_at,
      lastTickAt: row.last_tick_at,
      lastRun: row.last_tick_at === null ? null : ((await this.#runOf.get(row.workflow, row.last_tick_at)) ?? null),
      pausedAt: row.paused_at,
      missed: row.missed ?? 0,
      skipped: row.skipped ?? 0,
      suppressed: row.suppressed ?? 0,
      unfinished: row.unfinished,
    }))
  }

  /** The first status of a tick's run, given the unfinished ticks of its workflow and account. */
  async #decideStart(
    workflow: string,
    account: string,
    overlap: Overlap,
  ): Promise<{ status: RunStatus; reason: string | null }> {
    const blockers = overlap === 'allow' ? [] : await this.#blockers.all(workflow, account)
    const [first] = blockers
    if (!first) return { status: 'pending', reason: null }
    const isAtWork = blockers.some(({ reason }) => reason !== PAUSED_REASON && reason !== QUEUED_TICK_REASON)
    if (overlap === 'skip' && isAtWork)
      return { status: 'skipped', reason: `${first.id} of the tick before it is not finished` }
    return { status: 'waiting', reason: QUEUED_TICK_REASON }
  }
}
