import type { EffectStop, StopScope } from '../../../core/safety/stop.ts'
import { Table } from '../../connection.ts'

/** The stops in force: a few rows at most, read whole. */
export class StopTable extends Table {
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

  readonly listStops = this.readRows<[], EffectStop>(
    'SELECT kind, name, since, actor, reason FROM effect_stop ORDER BY since',
  )

  /** False when the scope was stopped already. */
  readonly add = this.change<[EffectStop]>(
    `INSERT INTO effect_stop (kind, name, since, actor, reason) VALUES (@kind, @name, @since, @actor, @reason)
     ON CONFLICT (kind, name) DO NOTHING`,
  )

  readonly remove = this.change<[StopScope]>('DELETE FROM effect_stop WHERE kind = @kind AND name = @name')
}
