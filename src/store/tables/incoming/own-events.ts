import { newId } from '../../../core/ids.ts'
import type { EventOrigin } from '../../../core/incoming/event.ts'
import { planRuns, type Route } from '../../../core/incoming/route.ts'
import type { SentEvent } from '../../../core/runs/wait.ts'
import { JoinedTable } from '../../connection.ts'
import { QUEUE_RUN } from '../../rows/run-sql.ts'
import type { Events } from './events.ts'

/** Saves events of our own, and starts the runs of an event. */
export class OwnEvents extends JoinedTable<{ events: Events; routes: () => Promise<readonly Route[] | null> }> {
  // Index: primary keys of run and workflow.
  readonly #insertRun = this.db.prepare<
    [{ run: string; workflow: string; seq: number; createdAt: number; depth: number }]
  >('INSERT INTO run (id, workflow, event_seq, created_at, depth) VALUES (@run, @workflow, @seq, @createdAt, @depth)')
  readonly #queue = this.db.prepare<[string]>(QUEUE_RUN)
  readonly #insertAccount = this.db.prepare('INSERT INTO event_account (name) VALUES (?) ON CONFLICT (name) DO NOTHING')

  /**
   * Saves an event once, however often it is sent. Its number; null where it is known. `receivedAt`
   * is later than its own moment where a pause, or an app that was off, has held it.
   */
  async send(
    { id, type, account, createdAt, body, workflows, depth = 0 }: SentEvent,
    origin: EventOrigin = 'send',
    receivedAt = createdAt,
  ): Promise<number | null> {
    // No endpoint may ever have named it. It comes before its stream, as where steps send many.
    await this.#insertAccount.run(account)
    const seq = await this.parts.events.saveOwn({ id, type, account, createdAt, receivedAt, body, origin })
    if (seq !== null) await this.start(seq, workflows, { createdAt: receivedAt, depth })
    return seq
  }

  async start(
    seq: number,
    workflows: readonly string[],
    { createdAt, depth }: { createdAt: number; depth: number },
  ): Promise<void> {
    for (const workflow of workflows) {
      const run = newId('run', createdAt)
      await this.#insertRun.run({ run, workflow, seq, createdAt, depth })
      await this.#queue.run(run)
    }
  }

  /** Saves an event that the store itself makes; it starts the workflows of the present routes. */
  async tell(event: Omit<SentEvent, 'workflows'>, receivedAt?: number): Promise<number | null> {
    const workflows = planRuns(event.type, (await this.parts.routes()) ?? [])
    return this.send({ ...event, workflows }, 'send', receivedAt)
  }
}
