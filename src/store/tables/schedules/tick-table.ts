import { newId } from '../../../core/ids.ts'
import { PAUSED_REASON, QUEUED_TICK_REASON, type RunStatus } from '../../../core/runs/run.ts'
import type { DueTick, Overlap, TickOptions } from '../../../core/runs/schedule.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { JoinedTable } from '../../connection.ts'
import { describeMissing, type ScheduleTable } from './schedule-table.ts'

interface Blocker {
  id: string
  reason: string | null
}

interface TickRun {
  run: string
  workflow: string
  schedule: string
  account: string
  input: string | null
  depth: number
  status: RunStatus
  reason: string | null
  tickAt: number
  now: number
  origin: 'tick' | 'manual'
}

export class TickTable extends JoinedTable<{ schedules: ScheduleTable }> {
  // Index: primary keys of tick and workflow, down to the next comment.
  readonly #insert = this.db.prepare(
    `INSERT INTO tick (schedule, scheduled_for, account, missed, run_id, is_manual)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (schedule, scheduled_for, account) DO NOTHING`,
  )
  readonly #insertRun = this.db.prepare<[TickRun]>(
    `INSERT INTO run (id, workflow, tick_at, schedule, input, account, depth, created_at, origin, since_seq)
     VALUES (@run, @workflow, @tickAt, @schedule, @input, @account, @depth, @now, @origin,
       ${this.db.sql.newestEvent('@account')})`,
  )
  readonly #insertWork = this.db.prepare<[TickRun]>(
    `INSERT INTO work (run_id, workflow, status, reason, tick_at, tick_schedule, tick_account, rank)
     VALUES (@run, @workflow, @status, @reason, @tickAt, @schedule, @account, -coalesce(
       (SELECT priority FROM workflow WHERE id = @workflow), 0))`,
  )
  readonly #insertSkipped = this.db.prepare<[TickRun]>(
    `INSERT INTO outcome (run_id, workflow, status, reason, rank, fence, attempt, finished_at)
     VALUES (@run, @workflow, @status, @reason, 0, 0, 0, @now)`,
  )
  readonly #get = this.db.pluck<[string, number, string], number>(
    'SELECT missed FROM tick WHERE schedule = ? AND scheduled_for = ? AND account = ?',
  )
  readonly #before = this.db.pluck<
    [string, number, string],
    number
  >(`SELECT scheduled_for FROM tick WHERE schedule = ? AND scheduled_for < ? AND account = ?
       ORDER BY scheduled_for DESC LIMIT 1`)
  readonly #moments = this.db.pluck<
    [string, number, number, number, number],
    number
  >(`SELECT scheduled_for FROM tick WHERE schedule = ? AND scheduled_for BETWEEN ? AND ?
       GROUP BY scheduled_for HAVING count(*) >= ? ORDER BY scheduled_for LIMIT ?`)
  // Index: primary key.
  readonly #schedulesOf = this.db.pluck<[string[]], string>(
    `SELECT DISTINCT tick_schedule FROM work WHERE ${this.db.sql.isOneOf('run_id', 'text')} AND tick_at IS NOT NULL
     ORDER BY tick_schedule`,
  )
  // Index: work_ticking, from here on.
  readonly #startQueued = this.db.prepare<[{ schedule: string; account: string }]>(
    `UPDATE work SET status = 'pending', reason = NULL WHERE run_id = (
       SELECT run_id FROM work WHERE tick_schedule = @schedule AND tick_account = @account AND tick_at IS NOT NULL
         AND status = 'waiting'
         AND reason = '${QUEUED_TICK_REASON}' ORDER BY tick_at LIMIT 1)
     AND NOT EXISTS (SELECT 1 FROM work WHERE tick_schedule = @schedule AND tick_account = @account
       AND tick_at IS NOT NULL AND reason IS DISTINCT FROM '${QUEUED_TICK_REASON}')`,
  )
  readonly #blockers = this.db.prepare<[string, string], Blocker>(
    `SELECT run_id AS id, reason FROM work WHERE tick_schedule = ? AND tick_account = ? AND tick_at IS NOT NULL
     ORDER BY tick_at`,
  )

  /**
   * Saves a tick and its run in one commit, and returns the run's id. Null when the tick exists, or
   * its schedule is paused. `overlap` may queue or skip the run. A schedule that is not there is a
   * line of the workflow with this id. Throws `not_found` for the id of any other one.
   *
   * Undefined when the moment is undecided: another session has the schedule, or it has changed
   * since the look. A later moment, or account, would count this one as handled.
   */
  async recordTick(
    schedule: string,
    { scheduledFor, missed }: DueTick,
    now: number,
    options: TickOptions = {},
  ): Promise<string | null | undefined> {
    const { overlap = 'allow', account = DEFAULT_ACCOUNT, isLast = true, isManual = false, look } = options
    const known = await (look ? this.parts.schedules.take(schedule) : this.parts.schedules.lock(schedule))
    const { workflow = schedule, input = null, depth = 0 } = known ?? {}
    if (look !== undefined && known?.version !== look.version) return undefined
    // A line in code may have no row: tests and moves record for its workflow. No other one may.
    if (!known && schedule.startsWith('sch_')) throw describeMissing(schedule)
    if (workflow === null) return null
    // Another scheduler has recorded the moment, for all its accounts.
    if (look !== undefined && (known?.handledAt ?? 0) >= scheduledFor) return null
    const isSuppressed = !isManual && (known?.pausedAt ?? null) !== null
    const run = isSuppressed ? null : newId('run', now)
    await this.db.lock(['tick', schedule])
    const isNew =
      run !== null &&
      (await this.#insert.run(schedule, scheduledFor, account, missed, run, isManual ? 1 : 0)).changes === 1
    if (isNew) {
      const start = await this.#decideStart(schedule, account, overlap)
      const about = { run, workflow, schedule, input, account, depth, ...start, tickAt: scheduledFor, now }
      await this.#startRun({ ...about, origin: isManual ? 'manual' : 'tick' })
    }
    if (known && isLast && !isManual) {
      await this.parts.schedules.settle({ id: schedule, at: scheduledFor, missed, isSuppressed })
      if (look) await this.parts.schedules.lookAtSchedule(schedule, look, now)
    }
    return isNew ? run : null
  }

  async #startRun(row: TickRun): Promise<void> {
    await this.#insertRun.run(row)
    if (row.status !== 'skipped') await this.#insertWork.run(row)
    else {
      await this.#insertSkipped.run(row)
      if (row.origin === 'tick') await this.parts.schedules.countSkipped(row.schedule)
    }
  }

  /** Locks the ticks of the schedules of these runs, in the order of their ids. */
  async lockTicksOf(runIds: readonly string[]): Promise<void> {
    for (const schedule of await this.#schedulesOf.all([...runIds])) await this.db.lock(['tick', schedule])
  }

  /** Lets the next queued tick go on, if no other of its schedule and account is unfinished. */
  async startQueued(schedule: string, account: string): Promise<void> {
    await this.db.lock(['tick', schedule])
    await this.#startQueued.run({ schedule, account })
  }

  /** A tick of an account, with the account's moment before it. */
  async get(schedule: string, scheduledFor: number, account: string) {
    return {
      scheduledFor,
      lastRunAt: (await this.#before.get(schedule, scheduledFor, account)) ?? null,
      missed: (await this.#get.get(schedule, scheduledFor, account)) ?? 0,
    }
  }

  /** Moments of a schedule between two that have ticks of so many `accounts`, up to `limit`. */
  async listTickMoments(
    schedule: string,
    { from, to, accounts, limit }: { from: number; to: number; accounts: number; limit: number },
  ): Promise<number[]> {
    return this.#moments.all(schedule, from, to, accounts, limit)
  }

  /** The first status of a tick's run, given the unfinished ticks of its schedule and account. */
  async #decideStart(
    schedule: string,
    account: string,
    overlap: Overlap,
  ): Promise<{ status: RunStatus; reason: string | null }> {
    const blockers = overlap === 'allow' ? [] : await this.#blockers.all(schedule, account)
    const [first] = blockers
    if (!first) return { status: 'pending', reason: null }
    const isAtWork = blockers.some(({ reason }) => reason !== PAUSED_REASON && reason !== QUEUED_TICK_REASON)
    if (overlap === 'skip' && isAtWork)
      return { status: 'skipped', reason: `${first.id} of the tick before it is not finished` }
    return { status: 'waiting', reason: QUEUED_TICK_REASON }
  }
}
