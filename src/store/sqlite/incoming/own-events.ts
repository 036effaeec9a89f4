import { newId } from '../../../core/ids.ts'
import type { EventOrigin } from '../../../core/incoming/event.ts'
import { planRuns, type Route } from '../../../core/incoming/route.ts'
import type { SentEvent } from '../../../core/runs/wait.ts'
import type { Connection } from '../../connection.ts'
import type { EventTable } from './event-table.ts'

/** Saves events of our own, with the runs that they start. */
export class OwnEvents {
  readonly #events: EventTable
  readonly #routes: () => Promise<readonly Route[] | null>
  readonly #insertRun
  readonly #insertAccount

  constructor(db: Connection, events: EventTable, routes: () => Promise<readonly Route[] | null>) {
    this.#events = events
    this.#routes = routes
    // Index: primary keys of run and workflow.
    this.#insertRun = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, created_at, priority)
       VALUES (?, ?, 'pending', ?, ?, coalesce((SELECT priority FROM workflow WHERE id = ?), 0))`,
    )
    this.#insertAccount = db.prepare('INSERT INTO event_account (name) VALUES (?) ON CONFLICT (name) DO NOTHING')
  }

  /** Saves an event once, however often it is sent. */
  async send(
    { id, type, account, createdAt, body, workflows }: SentEvent,
    origin: EventOrigin = 'send',
  ): Promise<void> {
    const event = { id, type, created: new Date(createdAt).toISOString() }
    const saved = await this.#events.save({ event, account, receivedAt: createdAt, body }, origin)
    if (saved.kind === 'known') return
    // No endpoint may ever have named it.
    await this.#insertAccount.run(account)
    for (const workflow of workflows) {
      await this.#insertRun.run(newId('run', createdAt), workflow, saved.seq, createdAt, workflow)
    }
  }

  /** Saves an event that the store itself makes; it starts the workflows of the present routes. */
  async tell(event: Omit<SentEvent, 'workflows'>): Promise<void> {
    await this.send({ ...event, workflows: planRuns(event.type, (await this.#routes()) ?? []) })
  }
}
