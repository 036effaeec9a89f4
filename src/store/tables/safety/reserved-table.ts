import type { Lease } from '../../../core/runs/lease.ts'
import type { EffectAsk, EffectClass } from '../../../core/safety/effect.ts'
import { type EffectShare, sizeOf } from '../../../core/safety/effect-group.ts'
import type { EffectSource } from '../../../core/safety/guard.ts'
import { JoinedTable } from '../../connection.ts'
import type { GuardTable } from './guard-table.ts'

/** Effects of a list that are counted and have not begun. */
interface ReservedRow {
  runId: string
  fence: number
  list: number
  class: EffectClass
  storage: string
  /** Empty where it is not known. */
  folder: string
  workflow: string
  account: string
  at: number
  count: number
  bytes: number
}

function sourceOfReserved({ runId, workflow, account, storage, folder }: ReservedRow): EffectSource {
  return { runId, workflow, account, storage: storage === '' ? null : storage, folder: folder === '' ? null : folder }
}

/** Lists of effects that are counted ahead, until each effect begins. See decision 81. */
export class ReservedTable extends JoinedTable<{ guard: GuardTable }> {
  // Index: primary key throughout.
  readonly #add = this.db.prepare(
    `INSERT INTO guard_reserved (run_id, fence, list, class, storage, folder, workflow, account, at, count, bytes)
     VALUES (@runId, @fence, @list, @class, @storage, @folder, @workflow, @account, @at, @count, @bytes)
     ON CONFLICT (run_id, fence, list, class, storage, folder) DO UPDATE SET
       count = guard_reserved.count + excluded.count, bytes = guard_reserved.bytes + excluded.bytes`,
  )
  // The end of a run looks for waits first. No step has such a key.
  readonly #note = this.db.prepare(
    `INSERT INTO wait (run_id, key) VALUES (?, '#reserved') ON CONFLICT (run_id, key) DO NOTHING`,
  )
  readonly #take = this.db.pluck<
    [number, string, number, number, string, string, string, number],
    number
  >(`UPDATE guard_reserved SET count = count - 1, bytes = bytes - ?
       WHERE run_id = ? AND fence = ? AND list = ? AND class = ? AND storage = ? AND folder = ?
         AND count > 0 AND bytes >= ?
       RETURNING at`)
  readonly #list = this.db.prepare<[string], ReservedRow>('SELECT * FROM guard_reserved WHERE run_id = ?')
  readonly #drop = this.db.prepare('DELETE FROM guard_reserved WHERE run_id = ? AND fence = ? AND list = ?')

  /** Counts a list of this pass. */
  async add(
    { runId, fence }: Lease,
    list: number,
    { source, class: kind, count, bytes }: EffectShare,
    at: number,
  ): Promise<void> {
    const { workflow, account, storage, folder } = source
    await this.parts.guard.reserve(source, kind, { count, bytes }, at)
    await this.#add.run({
      runId,
      fence,
      list,
      class: kind,
      storage: storage ?? '',
      folder: folder ?? '',
      workflow,
      account,
      at,
      count,
      bytes,
    })
    await this.#note.run(runId)
  }

  /** The moment at which an effect was counted ahead; null where it was not. */
  async take(
    { runId, fence }: Lease,
    list: number,
    ask: EffectAsk,
    { storage, folder }: EffectSource,
  ): Promise<number | null> {
    const { bytes } = sizeOf(ask)
    return (await this.#take.get(bytes, runId, fence, list, ask.class, storage ?? '', folder ?? '', bytes)) ?? null
  }

  /** Takes back what was counted for a run and no list of this pass needs, and that of `list`. */
  async release({ runId, fence }: Pick<Lease, 'runId' | 'fence'>, list: number | null): Promise<void> {
    await this.#giveBack((await this.#list.all(runId)).filter((row) => row.fence !== fence || row.list === list))
  }

  /** Takes back all that was counted ahead for a run. */
  async releaseRun(runId: string): Promise<void> {
    await this.#giveBack(await this.#list.all(runId))
  }

  async #giveBack(rows: readonly ReservedRow[]): Promise<void> {
    for (const row of rows) {
      await this.parts.guard.refund(sourceOfReserved(row), row.class, { count: row.count, bytes: row.bytes }, row.at)
      await this.#drop.run(row.runId, row.fence, row.list)
    }
  }
}
