import { UpshotError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { PlannedRun } from '../../../core/store/planned-run.ts'
import { JoinedTable } from '../../connection.ts'
import { QUEUE_RUN } from '../../rows/run-sql.ts'
import type { Events } from '../incoming/events.ts'
import { describeMissing } from './run-operations.ts'

type Replay = { id: string; workflow: string; origin: 'replay' | 'plan'; now: number }

/** Makes runs of events that are stored. */
export class ReplayTable extends JoinedTable<{ events: Events }> {
  readonly #insert = this.db.prepare(
    `INSERT INTO run (id, workflow, event_seq, since_seq, created_at, origin, origin_run)
     VALUES (@id, @workflow, @seq, ${this.db.sql.newestEvent('CAST(@account AS text)')}, @now, @origin, @before)`,
  )
  // Index: run_caused.
  readonly #latestRun = this.db.pluck<[number, string], string | null>(
    `SELECT max(id) FROM run WHERE event_seq = ? AND workflow = ? AND handler = 'run'`,
  )
  readonly #queue = this.db.prepare<[string]>(QUEUE_RUN)

  /**
   * Starts new runs of a stored event, one for each workflow, and returns their ids. `not_found`
   * without the event, `conflict` when its body is pruned.
   */
  async replayEvent(
    named: { id: string; account: string },
    workflows: readonly string[],
    now: number,
  ): Promise<string[]> {
    return this.replayStored(await this.#requireBody(named), workflows, now)
  }

  /** A run of this id that the guard lets do what its plan foresaw. */
  async startPlanned(
    { event: named, workflow, run }: Pick<PlannedRun, 'event' | 'workflow' | 'run'>,
    now: number,
  ): Promise<void> {
    await this.#insertReplay(await this.#requireBody(named), { id: run, workflow, origin: 'plan', now })
  }

  async #requireBody({ id, account }: { id: string; account: string }): Promise<EventRecord> {
    const event = await this.parts.events.findIn(account, id)
    if (!event) throw describeMissing(`event ${id} in the account "${account}"`)
    if (event.body === '') {
      throw new UpshotError('conflict', `The body of event ${id} is pruned, so it cannot be replayed.`, {
        details: { fix: 'Raise retention.payloads in config/upshot.config.ts to keep bodies longer.' },
      })
    }
    return event
  }

  /** New runs of an event that has its body. */
  async replayStored(event: EventRecord, workflows: readonly string[], now: number): Promise<string[]> {
    return Array.fromAsync(workflows, async (workflow) => {
      const id = newId('run', now)
      await this.#insertReplay(event, { id, workflow, origin: 'replay', now })
      return id
    })
  }

  async #insertReplay({ account, seq }: EventRecord, replay: Replay): Promise<void> {
    const before = (await this.#latestRun.get(seq, replay.workflow)) ?? null
    await this.#insert.run({ ...replay, account, seq, before })
    await this.#queue.run(replay.id)
  }
}
