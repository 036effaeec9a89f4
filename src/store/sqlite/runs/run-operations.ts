import type { Database } from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { planReset } from '../../../core/runs/step.ts'
import type { Fork } from '../../../core/store/operations.ts'
import type { EventTable } from '../incoming/event-table.ts'
import type { RunTable } from './run-table.ts'
import type { StepTable } from './step-table.ts'

const STEP_COLUMNS =
  'key, position, kind, effect, status, attempt, output, apart_bytes, error, target, started_at, finished_at, due_at'

/** A new run finds the events that come from now on, whatever its cause. */
const NEWEST_EVENT = '(SELECT coalesce(max(seq), 0) FROM event)'

/** What a person does to runs that are there: take them up again, or make new ones from them. */
export class RunOperations {
  readonly #events: EventTable
  readonly #runs: RunTable
  readonly #steps: StepTable
  readonly #reopen
  readonly #resume
  readonly #restart
  readonly #resetStep
  readonly #beginAnew
  readonly #dropSteps
  readonly #dropOutputs
  readonly #copyOutput
  readonly #fork
  readonly #copyStep
  readonly #editStep
  readonly #replay
  readonly #latestRun

  constructor(db: Database, { events, runs, steps }: { events: EventTable; runs: RunTable; steps: StepTable }) {
    this.#events = events
    this.#runs = runs
    this.#steps = steps
    // Index: the primary keys of run and step serve all of these. The next claim raises the fence,
    // so nobody who had the run before can write it.
    this.#reopen = db.prepare(
      `UPDATE run SET status = 'pending', reason = NULL, due_at = NULL, finished_at = NULL, attempt = 0, crashes = 0
       WHERE id = ? AND status IN ('failed', 'canceled')`,
    )
    const takeUp = (changes: string) =>
      db.prepare(
        `UPDATE run SET status = 'pending', reason = NULL, crashes = 0${changes}
         WHERE id = ? AND status = 'waiting' AND due_at IS NULL AND awaits = 0 AND turn IS NOT 'waits'`,
      )
    // Whoever resumes a run takes the code as it is now: nothing is compared with the code before.
    this.#resume = takeUp(', code_hash = NULL')
    this.#restart = takeUp(', code_hash = NULL, attempt = 0, started_at = NULL, error = NULL')
    this.#resetStep = db.prepare(
      `UPDATE step SET status = 'waiting', attempt = 0, finished_at = NULL, due_at = NULL WHERE run_id = ? AND key = ?`,
    )
    this.#beginAnew = db.prepare(
      `DELETE FROM step WHERE run_id = ? AND kind IN ('wait', 'invoke') AND status = 'waiting'`,
    )
    this.#dropSteps = db.prepare('DELETE FROM step WHERE run_id = ?')
    this.#dropOutputs = db.prepare('DELETE FROM blob WHERE run_id = ?')
    this.#copyOutput = db.prepare(
      'INSERT INTO blob (run_id, key, packed) SELECT @id, key, packed FROM blob WHERE run_id = @source AND key = @key',
    )
    // It has a journal before its first claim: its fence and its start say so.
    this.#fork = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, tick_at, input, account, since_seq, priority, fence, created_at, started_at,
         origin, origin_run, handler, failure, folded)
       SELECT @id, workflow, 'pending', event_seq, tick_at, input, account, ${NEWEST_EVENT}, priority, 1, @now, @now, 'fork', id, handler, failure, folded
       FROM run WHERE id = @source`,
    )
    this.#copyStep = db.prepare(
      `INSERT INTO step (run_id, ${STEP_COLUMNS}) SELECT @id, ${STEP_COLUMNS} FROM step
       WHERE run_id = @source AND key = @key AND status IN ('completed', 'failed')`,
    )
    this.#editStep = db.prepare(
      `INSERT INTO step (run_id, key, position, kind, effect, status, attempt, output, target, started_at, finished_at)
       SELECT @id, key, position, kind, effect, 'completed', 1, @output, target, @now, @now FROM step WHERE run_id = @source AND key = @key`,
    )
    this.#replay = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, since_seq, created_at, origin, origin_run, priority)
       VALUES (@id, @workflow, 'pending', @seq, ${NEWEST_EVENT}, @now, 'replay', @before,
         coalesce((SELECT priority FROM workflow WHERE id = @workflow), 0))`,
    )
    // Index: run_caused.
    this.#latestRun = db
      .prepare<[number, string], string | null>(
        `SELECT max(id) FROM run WHERE event_seq = ? AND workflow = ? AND handler = 'run'`,
      )
      .pluck()
  }

  reopen(runId: string): boolean {
    const run = this.#runs.find(runId)
    if (!run || this.#reopen.run(runId).changes === 0) return false
    for (const key of planReset(this.#steps.list(runId), run.error)) this.#resetStep.run(runId, key)
    // What a run waited for went with its end: it waits anew, and asks for another run.
    this.#beginAnew.run(runId)
    return true
  }

  resume(runId: string, { fromScratch }: { fromScratch: boolean }): boolean {
    if ((fromScratch ? this.#restart : this.#resume).run(runId).changes === 0) return false
    if (fromScratch) {
      this.#dropSteps.run(runId)
      this.#dropOutputs.run(runId)
    }
    return true
  }

  fork(source: string, { keys, edited }: Fork, now: number): string {
    const id = newId('run', now)
    if (this.#fork.run({ id, source, now }).changes === 0) throw missing(`run ${source}`)
    for (const key of keys) {
      if (this.#copyStep.run({ id, source, key }).changes === 0)
        throw missing(`finished step "${key}" in run ${source}`)
      this.#copyOutput.run({ id, source, key })
    }
    if (edited && this.#editStep.run({ id, source, now, ...edited }).changes === 0) {
      throw missing(`step "${edited.key}" in run ${source}`)
    }
    return id
  }

  replay({ id, account }: { id: string; account: string }, workflows: readonly string[], now: number): string[] {
    const event = this.#events.findIn(account, id)
    if (!event) throw missing(`event ${id} in the account "${account}"`)
    if (event.body === '') {
      throw new UpshotError('conflict', `The body of event ${id} is pruned, so it cannot be replayed.`, {
        details: { fix: 'Raise retention.payloads in config/upshot.config.ts to keep bodies longer.' },
      })
    }
    return workflows.map((workflow) => {
      const run = newId('run', now)
      const before = this.#latestRun.get(event.seq, workflow) ?? null
      this.#replay.run({ id: run, workflow, seq: event.seq, now, before })
      return run
    })
  }
}

function missing(what: string): UpshotError {
  return new UpshotError('not_found', `There is no ${what} any more.`)
}
