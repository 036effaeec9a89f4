import { UpshotError } from '../../../core/errors.ts'
import {
  type CronTrigger,
  type DueCursor,
  type DueSchedule,
  describeTakenSchedule,
  hasSameMoments,
  type NewSchedule,
  type ScheduleLook,
  type ScheduleQuery,
  type ScheduleRecord,
} from '../../../core/runs/schedule.ts'
import type { SentEvent } from '../../../core/runs/wait.ts'
import { Table } from '../../connection.ts'
import { buildWhere, given } from '../../rows/build-where.ts'

type KnownSchedule = Pick<ScheduleRow, 'id' | 'owner' | 'madeBy' | 'workflow' | 'plan' | 'input' | 'pausedAt'> &
  Pick<ScheduleRow, 'startedAt' | 'handledAt' | 'nextAt'> & { depth: number; version: number; noted: number }

type DueRow = Omit<DueSchedule, 'plan' | 'lastAt' | 'isPaused'> & {
  plan: string
  startedAt: number
  handledAt: number
  pausedAt: number | null
}

type ScheduleRow = Omit<ScheduleRecord, 'plan'> & { plan: string }

/** A module's cron line. */
interface Line {
  id: string
  file: string
  line: CronTrigger
}

/** Schedules that the order by the next moment looks at. */
const MAX_NEXT = 50

/** A changed schedule of a person or of code. */
type EditedSchedule = Omit<NewSchedule, 'owner' | 'madeBy' | 'depth'>

/** Sorts after every id. */
const LAST = '~'

const CHANGED = 'version = version + 1'
const SELECT_KNOWN = `SELECT id, owner, made_by, workflow, plan, input, depth, version, started_at, handled_at, next_at,
    paused_at, noted
  FROM schedule WHERE id = ?`

// Index: primary keys of schedule and tick, and work_ticking for the count.
const SELECT = `SELECT id, name, owner, made_by, workflow, plan, input, created_at, started_at,
    handled_at, next_at, done_at, paused_at, missed, skipped, suppressed,
    (SELECT max(scheduled_for) FROM tick WHERE tick.schedule = schedule.id) AS last_tick_at,
    (SELECT run_id FROM tick WHERE tick.schedule = schedule.id ORDER BY scheduled_for DESC LIMIT 1) AS last_run,
    (SELECT count(*) FROM work WHERE tick_schedule = schedule.id AND tick_at IS NOT NULL) AS unfinished
  FROM schedule`
const IS_THERE = '(next_at IS NOT NULL OR done_at IS NOT NULL)'

/** Schedules: the cron lines of modules, and what people and code add. */
export class ScheduleTable extends Table {
  /** Index: primary key, where nothing else is said. */
  readonly #writes = {
    insert: this.db.prepare(
      `INSERT INTO schedule (id, name, owner, made_by, workflow, plan, input, depth, created_at, started_at, looked_at,
         next_at)
       VALUES (@id, @name, @owner, @madeBy, @workflow, @plan, @input, @depth, @now, @startedAt, @now, @nextAt)
       ON CONFLICT DO NOTHING`,
    ),
    change: this.db.prepare<Change & { id: string; now: number }>(
      `UPDATE schedule SET plan = @plan, input = @input, made_by = @madeBy, ${CHANGED}, looked_at = @now,
         next_at = @now, done_at = NULL, started_at = coalesce(CAST(@startedAt AS bigint), started_at),
         handled_at = CASE WHEN CAST(@startedAt AS bigint) IS NULL THEN handled_at ELSE 0 END,
         noted = CASE WHEN CAST(@startedAt AS bigint) IS NULL THEN noted ELSE 0 END
       WHERE id = @id`,
    ),
    retarget: this.db.prepare<[string | null, number, string]>(
      'UPDATE schedule SET workflow = ?, depth = ? WHERE id = ?',
    ),
    retire: this.db.prepare<[string]>(
      `UPDATE schedule SET next_at = NULL, ${CHANGED} WHERE id = ? AND owner = 'module'`,
    ),
    remove: this.db.prepare<[string]>(`DELETE FROM schedule WHERE id = ? AND owner <> 'module'`),
    pause: this.db.prepare<{ id: string; pausedAt: number | null; startedAt: number; now: number }>(
      `UPDATE schedule SET paused_at = @pausedAt, started_at = ${this.db.sql.greatest}(started_at, @startedAt),
         noted = 0, ${CHANGED}, next_at = CASE WHEN next_at IS NULL THEN NULL ELSE CAST(@now AS bigint) END
       WHERE id = @id`,
    ),
    note: this.db.prepare<{ id: string; missed: number }>(
      'UPDATE schedule SET missed = missed + @missed - noted, noted = @missed WHERE id = @id',
    ),
    look: this.db.prepare<{ id: string; now: number } & Required<ScheduleLook>>(
      `UPDATE schedule SET next_at = @nextAt, looked_at = @now, skipped = skipped + @skipped,
         handled_at = ${this.db.sql.greatest}(handled_at, @handledAt),
         done_at = CASE WHEN CAST(@nextAt AS bigint) IS NULL THEN CAST(@now AS bigint) END
       WHERE id = @id AND version = @version AND next_at = coalesce(CAST(@dueAt AS bigint), next_at)`,
    ),
  }
  readonly #reads = {
    find: this.db.prepare<[string], ScheduleRow>(`${SELECT} WHERE id = ? AND ${IS_THERE}`),
    // Index: schedule_name.
    idOf: this.db.pluck<[string], string>(`SELECT id FROM schedule WHERE name = ? AND owner <> 'module'`),
    // Index: schedule_due.
    listDue: this.db.prepare<[number, number, string, number], DueRow>(
      `SELECT id, name, workflow, plan, version, next_at, started_at, handled_at, paused_at FROM schedule
       WHERE next_at IS NOT NULL AND next_at <= ? AND (next_at, id) > (CAST(? AS bigint), CAST(? AS text))
       ORDER BY next_at, id LIMIT ?`,
    ),
    // The planner has to see the number, and guesses wrong about what is paused.
    listNext: this.db.prepare<[], ScheduleRow>(
      `${SELECT} WHERE next_at IS NOT NULL ORDER BY next_at, id LIMIT ${MAX_NEXT}`,
    ),
  }

  /** Locks the row to the end of the transaction. */
  readonly lock = this.readRow<[id: string], KnownSchedule>(`${SELECT_KNOWN} ${this.db.sql.forUpdate()}`)

  /** The same for a scheduler: none where another one has it now, and is about to act. */
  readonly take = this.readRow<[id: string], KnownSchedule>(`${SELECT_KNOWN} ${this.db.sql.skipLocked}`)

  /** Writes the lines of all modules. An unchanged one goes on, any other begins now. */
  async saveLines(lines: readonly Line[], gone: readonly string[], now: number): Promise<void> {
    for (const id of gone) await this.#writes.retire.run(id)
    for (const { id, file, line } of lines) {
      const known = await this.lock(id)
      const plan = JSON.stringify(line)
      if (!known) {
        const row = { id, name: id, owner: 'module', madeBy: file, workflow: id, plan, input: null } as const
        await this.#writes.insert.run({ ...row, depth: 0, now, startedAt: now, nextAt: now })
        continue
      }
      if (known.plan === plan && known.madeBy === file && known.nextAt !== null) continue
      const isSame = known.nextAt !== null && hasSameMoments(JSON.parse(known.plan) as CronTrigger, line)
      await this.#change(known, { plan, input: null, madeBy: file, startedAt: isSame ? null : now }, now)
    }
  }

  /** Adds a schedule. Throws `conflict` where the name is taken. */
  async addSchedule(schedule: NewSchedule, now: number): Promise<void> {
    if ((await this.#insert(schedule, now)) === 1) return
    throw describeTakenSchedule(schedule.name)
  }

  /** Adds a schedule of code, or changes the one of its name. */
  async upsert(schedule: NewSchedule, now: number): Promise<void> {
    if ((await this.#insert(schedule, now)) === 1) return
    const id = (await this.#reads.idOf.get(schedule.name)) ?? ''
    const known = await this.lock(id)
    // A person has just removed it.
    if (known === null) return this.upsert(schedule, now)
    if (known.owner !== 'code') {
      throw new UpshotError('conflict', `The schedule "${schedule.name}" is not one that code made.`)
    }
    const plan = JSON.stringify(schedule.plan)
    if (known.plan === plan && known.input === schedule.input && known.workflow === schedule.workflow) return
    await this.#change(known, { ...schedule, plan, startedAt: startOf(schedule, now) }, now)
    await this.#writes.retarget.run(schedule.workflow, schedule.depth ?? 0, id)
  }

  /** Changes a schedule of a person or of code; other moments begin now. Throws `not_found`. */
  async editSchedule({ id, plan, input }: EditedSchedule, now: number): Promise<void> {
    const known = await this.lock(id)
    if (!known || known.owner === 'module') throw describeMissing(id)
    const change = { plan: JSON.stringify(plan), input, madeBy: known.madeBy, startedAt: startOf({ plan }, now) }
    const isSamePlan = change.plan === known.plan
    await this.#change(known, isSamePlan ? { ...change, startedAt: null } : change, now)
  }

  /** Removes a schedule of a person or of code; its runs stay. Throws `not_found`. */
  async removeSchedule({ id }: { id: string; name: string }): Promise<void> {
    if ((await this.#writes.remove.run(id)).changes === 0) throw describeMissing(id)
  }

  /** Removes what code made under a name, if it is there. */
  readonly removeOfCode = this.write<[name: string]>(
    `DELETE FROM schedule WHERE name = ? AND owner <> 'module' AND owner = 'code' AND workflow IS NOT NULL`,
  )

  /**
   * Pauses or resumes a schedule; moments of the pause are counted, never caught up with. False
   * when nothing changed, `not_found` without a schedule.
   */
  async pauseSchedule(id: string, isPaused: boolean, now: number): Promise<boolean> {
    const known = await this.lock(id)
    if (!known) throw describeMissing(id)
    if ((known.pausedAt !== null) === isPaused) return false
    // After a pause a line starts now, so moments during the pause are not caught up.
    const startedAt = isPaused || JSON.parse(known.plan).kind !== 'cron' ? 0 : now
    await this.#writes.pause.run({ id, pausedAt: isPaused ? now : null, startedAt, now })
    return true
  }

  /**
   * Counts the moments after `since` that passed without a tick, and resolves with those that were
   * not counted yet. The next tick tells its run of them, and counts none twice.
   */
  async noteMissed(id: string, missed: number, since: number): Promise<number> {
    const known = await this.lock(id)
    if (!known || known.pausedAt !== null || Math.max(known.startedAt, known.handledAt) !== since) return 0
    if (known.noted >= missed) return 0
    await this.#writes.note.run({ id, missed })
    return missed - known.noted
  }

  /** False where it is another schedule than was looked at, or is done. */
  async lookAtSchedule(
    id: string,
    { version, nextAt, dueAt = null, handledAt = 0, skipped = 0 }: ScheduleLook,
    now: number,
  ): Promise<boolean> {
    return (await this.#writes.look.run({ id, version, nextAt, dueAt, handledAt, skipped, now })).changes === 1
  }

  /** Looks again at all that a scheduler saw after `now`, by a clock that was ahead. No index. */
  readonly relookSchedules = this.write(
    `UPDATE schedule SET next_at = @now, looked_at = @now,
       handled_at = CASE WHEN handled_at > @now THEN CAST(@now AS bigint) ELSE handled_at END,
       started_at = CASE WHEN started_at > @now THEN CAST(@now AS bigint) ELSE started_at END
     WHERE looked_at > @now AND next_at IS NOT NULL`,
    (now: number) => [{ now }],
  )

  /** The event of a schedule that is done with it; null where it is another than was looked at. */
  async takeEvent(id: string, version: number, now: number): Promise<Omit<SentEvent, 'workflows'> | null> {
    const known = await this.lock(id)
    const isDue = known?.version === version && known.nextAt !== null && known.workflow === null
    if (!isDue || known.pausedAt !== null) return null
    await this.lookAtSchedule(id, { version, nextAt: null, handledAt: now }, now)
    return JSON.parse(known.input ?? '') as SentEvent
  }

  /** Counts a moment as handled, with those before it that were missed. */
  readonly settle = this.write<[{ id: string; at: number; missed: number; isSuppressed: boolean }]>(
    `UPDATE schedule SET handled_at = @at, missed = missed + @missed - noted, noted = 0,
       suppressed = suppressed + CAST(@isSuppressed AS bigint)
     WHERE id = @id AND handled_at < @at`,
  )

  readonly countSkipped = this.write<[id: string]>('UPDATE schedule SET skipped = skipped + 1 WHERE id = ?')

  /** Removes up to `limit` schedules that were done before a moment. Index: schedule_done. */
  readonly pruneSchedules = this.countChanged<[before: number, limit: number]>(
    `DELETE FROM schedule WHERE id IN (
       SELECT id FROM schedule WHERE done_at IS NOT NULL AND done_at < ? ORDER BY done_at LIMIT ?
       ${this.db.sql.skipLocked})`,
  )

  /** Those that a scheduler has to look at by `now`, the longest due first. */
  async listDueSchedules(now: number, { limit, after }: { limit: number; after?: DueCursor }): Promise<DueSchedule[]> {
    const rows = await this.#reads.listDue.all(now, after?.nextAt ?? -1, after?.id ?? '', limit)
    return rows.map(({ plan, startedAt, handledAt, pausedAt, ...row }) => ({
      ...row,
      plan: JSON.parse(plan),
      lastAt: Math.max(startedAt, handledAt),
      isPaused: pausedAt !== null,
    }))
  }

  /** When the next one after `now` is due; null: none is. */
  readonly nextScheduleAt = this.readValue<[now: number], number>(
    'SELECT next_at FROM schedule WHERE next_at IS NOT NULL AND next_at > ? ORDER BY next_at, id LIMIT 1',
  )

  /** Lines of modules that are gone are left out. Index: primary key, or schedule_workflow. */
  async listSchedules({ limit, after = '', workflow, owner, order = 'id' }: ScheduleQuery): Promise<ScheduleRecord[]> {
    if (order === 'next') {
      const first = (await this.#reads.listNext.all()).filter((row) => row.pausedAt === null)
      return first.slice(0, limit).map(readSchedule)
    }
    const { where, values } = buildWhere([
      ['id > ?', after],
      [IS_THERE],
      ...given({ 'workflow = ?': workflow, 'owner = ?': owner }),
    ])
    const list = this.db.prepare<unknown[], ScheduleRow>(`${SELECT} ${where} ORDER BY id LIMIT ?`)
    return (await list.all(...values, limit)).map(readSchedule)
  }

  /** By its id, else by its name. */
  async findSchedule(name: string): Promise<ScheduleRecord | null> {
    const row =
      (await this.#reads.find.get(name)) ?? (await this.#reads.find.get((await this.#reads.idOf.get(name)) ?? LAST))
    return row ? readSchedule(row) : null
  }

  /** Missed moments by workflow, without those that missed none. Index: schedule_missed. */
  readonly tallyMissed = this.readRows<[], { workflow: string; missed: number }>(
    `SELECT workflow, CAST(sum(missed) AS bigint) AS missed FROM schedule
     WHERE missed > 0 AND workflow IS NOT NULL GROUP BY workflow ORDER BY workflow`,
  )

  /** 0 where the name is taken. A line in code has its name for itself, too. */
  async #insert(schedule: NewSchedule, now: number): Promise<number> {
    const { depth = 0, plan, ...rest } = schedule
    if ((await this.lock(schedule.name)) !== null) return 0
    const startedAt = startOf(schedule, now)
    const nextAt = plan.kind === 'once' ? plan.at : now
    const row = { ...rest, plan: JSON.stringify(plan), depth, now, startedAt, nextAt }
    return (await this.#writes.insert.run(row)).changes
  }

  /** `startedAt`: null where the moments stay the same. */
  async #change({ id }: KnownSchedule, { plan, input, madeBy, startedAt }: Change, now: number): Promise<void> {
    await this.#writes.change.run({ id, plan, input, madeBy, startedAt, now })
  }
}

interface Change extends Pick<ScheduleRow, 'plan' | 'input' | 'madeBy'> {
  startedAt: number | null
}

/** The moment after which its own are due: of one moment just before it, however late it is. */
function startOf({ plan }: Pick<NewSchedule, 'plan'>, now: number): number {
  if (plan.kind === 'backfill') return plan.from - 1
  return plan.kind === 'once' ? Math.min(now, plan.at - 1) : now
}

function readSchedule(row: ScheduleRow): ScheduleRecord {
  return { ...row, plan: JSON.parse(row.plan) }
}

export function describeMissing(id: string): UpshotError {
  return new UpshotError('not_found', `There is no schedule ${id}.`)
}
