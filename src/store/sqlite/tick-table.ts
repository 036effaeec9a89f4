import type { Database } from 'better-sqlite3'
import { newId } from '../../core/ids.ts'
import type { DueTick } from '../../core/schedule.ts'

/** Schedules and their recorded moments. */
export class TickTable {
  readonly #schedule
  readonly #start
  readonly #latest
  readonly #insert
  readonly #insertRun
  readonly #get
  readonly #before

  constructor(db: Database) {
    // Index: the primary keys of schedule and tick serve all of these.
    this.#schedule = db.prepare<[string], { expression: string; started_at: number }>(
      'SELECT expression, started_at FROM schedule WHERE workflow = ?',
    )
    this.#start = db.prepare(
      `INSERT INTO schedule (workflow, expression, started_at) VALUES (?, ?, ?)
       ON CONFLICT (workflow) DO UPDATE SET expression = excluded.expression, started_at = excluded.started_at`,
    )
    this.#latest = db.prepare<[string], number | null>('SELECT max(scheduled_for) FROM tick WHERE workflow = ?').pluck()
    this.#insert = db.prepare(
      `INSERT INTO tick (workflow, scheduled_for, recorded_at, missed, run_id) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (workflow, scheduled_for) DO NOTHING`,
    )
    this.#insertRun = db.prepare(
      `INSERT INTO run (id, workflow, status, tick_at, created_at) VALUES (?, ?, 'pending', ?, ?)`,
    )
    this.#get = db
      .prepare<[string, number], number>('SELECT missed FROM tick WHERE workflow = ? AND scheduled_for = ?')
      .pluck()
    this.#before = db
      .prepare<[string, number], number | null>(
        'SELECT max(scheduled_for) FROM tick WHERE workflow = ? AND scheduled_for < ?',
      )
      .pluck()
  }

  /** A schedule that is new, or whose line changed, starts now: a new line has no past to catch up with. */
  start(workflow: string, expression: string, now: number): number {
    const known = this.#schedule.get(workflow)
    if (known?.expression !== expression) {
      this.#start.run(workflow, expression, now)
      return now
    }
    return Math.max(known.started_at, this.#latest.get(workflow) ?? 0)
  }

  record(workflow: string, { scheduledFor, missed }: DueTick, now: number): string | null {
    const run = newId('run', now)
    if (this.#insert.run(workflow, scheduledFor, now, missed, run).changes === 0) return null
    this.#insertRun.run(run, workflow, scheduledFor, now)
    return run
  }

  get(workflow: string, scheduledFor: number): { scheduledFor: number; lastRunAt: number | null; missed: number } {
    return {
      scheduledFor,
      lastRunAt: this.#before.get(workflow, scheduledFor) ?? null,
      missed: this.#get.get(workflow, scheduledFor) ?? 0,
    }
  }
}
