import type { ServerRoom } from '../../../../core/store/health/server.ts'
import type { ReadStore } from '../../../../core/store/store.ts'

/** Sizes change slowly, and reading them locks each table for a moment. */
const LOOK_MS = 10_000

/** The room that the database takes on its server, as it was a few seconds ago; null for a file. */
export class RecentRoom {
  readonly #store: Pick<ReadStore, 'readServerRoom'>
  #room: ServerRoom | null = null
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(store: Pick<ReadStore, 'readServerRoom'>) {
    this.#store = store
  }

  async look(now: number): Promise<ServerRoom | null> {
    if (now - this.#lookedAt < LOOK_MS) return this.#room
    this.#lookedAt = now
    this.#room = await this.#store.readServerRoom(now)
    return this.#room
  }
}
