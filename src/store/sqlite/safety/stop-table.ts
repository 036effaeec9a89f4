import type { Database } from 'better-sqlite3'
import type { EffectStop, StopScope } from '../../../core/safety/stop.ts'

/** The stops in force: a few rows at most, read whole. */
export class StopTable {
  readonly #list
  readonly #add
  readonly #remove

  constructor(db: Database) {
    this.#list = db.prepare<[], EffectStop>('SELECT kind, name, since, actor, reason FROM effect_stop ORDER BY since')
    this.#add = db.prepare(
      `INSERT INTO effect_stop (kind, name, since, actor, reason) VALUES (@kind, @name, @since, @actor, @reason)
       ON CONFLICT (kind, name) DO NOTHING`,
    )
    this.#remove = db.prepare('DELETE FROM effect_stop WHERE kind = ? AND name = ?')
  }

  list(): EffectStop[] {
    return this.#list.all()
  }

  /** False when the scope was stopped already. */
  add(stop: EffectStop): boolean {
    return this.#add.run(stop).changes === 1
  }

  remove({ kind, name }: StopScope): boolean {
    return this.#remove.run(kind, name).changes === 1
  }
}
