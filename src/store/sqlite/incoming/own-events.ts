import type { Database } from 'better-sqlite3'
import { newId } from '../../../core/ids.ts'
import type { EventOrigin } from '../../../core/incoming/event.ts'
import { planRuns, type Route } from '../../../core/incoming/route.ts'
import type { SentEvent } from '../../../core/runs/wait.ts'
import type { EventTable } from './event-table.ts'

/** Saves events of our own, with the runs that they start. */
export class OwnEvents {
  readonly #events: EventTable
  readonly #routes: () => readonly Route[] | null
  readonly #insertRun
  readonly #insertAccount

  constructor(db: Database, events: EventTable, routes: () => readonly Route[] | null) {
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
  send({ id, type, account, createdAt, body, workflows }: SentEvent, origin: EventOrigin = 'send'): void {
    const event = { id, type, created: new Date(createdAt).toISOString() }
    const saved = this.#events.save({ event, account, receivedAt: createdAt, body }, origin)
    if (saved.kind === 'known') return
    // No endpoint may ever have named it.
    this.#insertAccount.run(account)
    for (const workflow of workflows) {
      this.#insertRun.run(newId('run', createdAt), workflow, saved.seq, createdAt, workflow)
    }
  }

  /** Saves an event that the store itself makes; it starts the workflows of the present routes. */
  tell(event: Omit<SentEvent, 'workflows'>): void {
    this.send({ ...event, workflows: planRuns(event.type, this.#routes() ?? []) })
  }
}
