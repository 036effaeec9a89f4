import type { EffectStop, StopScope } from '../../../core/safety/stop.ts'
import { Table } from '../../connection.ts'

/** The stops in force: a few rows at most, read whole. */
export class StopTable extends Table {
  readonly #list = this.db.prepare<[], EffectStop>(
    'SELECT kind, name, since, actor, reason FROM effect_stop ORDER BY since',
  )
  readonly #add = this.db.prepare(
    `INSERT INTO effect_stop (kind, name, since, actor, reason) VALUES (@kind, @name, @since, @actor, @reason)
     ON CONFLICT (kind, name) DO NOTHING`,
  )
  readonly #remove = this.db.prepare('DELETE FROM effect_stop WHERE kind = ? AND name = ?')

  /**
   * Lets one decision about effects commit at a time: limits are exact, and a stop holds at once.
   */
  async lock(): Promise<void> {
    await this.db.lock(['effects'])
  }

  /** The same without waiting; false where another transaction has it. */
  tryLock(): Promise<boolean> {
    return this.db.lock(['effects'], 'try')
  }

  listStops(): Promise<EffectStop[]> {
    return this.#list.all()
  }

  /** False when the scope was stopped already. */
  async add(stop: EffectStop): Promise<boolean> {
    return (await this.#add.run(stop)).changes === 1
  }

  async remove({ kind, name }: StopScope): Promise<boolean> {
    return (await this.#remove.run(kind, name)).changes === 1
  }
}
