import { type FileEvent, isTooNew, judgeTold } from '../../../core/service/sweep/judge-file.ts'
import type { PruneProgress, PruneSlice } from '../../../core/store/retention.ts'
import { Table } from '../../connection.ts'
import {
  type ForgottenFile,
  type JudgedRow,
  lastThere,
  nextTold,
  readJudged,
  readSweeps,
  readTold,
  SWEEP_SQL,
  type SweepRow,
  type ToldPlace,
  toldBit,
} from '../../rows/health/sweep-rows.ts'

/**
 * Forgets files that are gone, and what events told of files that are judged. Rows that a sweep may
 * still need stay, whatever their age.
 */
export class FilePruning extends Table {
  readonly #sql = {
    sweeps: this.db.prepare<[], SweepRow>(SWEEP_SQL.list),
    forget: this.db.prepare<[{ before: number; limit: number }], ForgottenFile>(SWEEP_SQL.forget),
    note: this.db.prepare<[Pick<ForgottenFile, 'sweep' | 'goneAt'>]>(SWEEP_SQL.noteForgotten),
    toldAfter: this.db.prepare<[ToldPlace & { limit: number }], FileEvent>(SWEEP_SQL.toldAfter),
    judged: this.db.prepare<[number, string], JudgedRow>(SWEEP_SQL.judged),
    judge: this.db.prepare<[number, number, string]>(SWEEP_SQL.judge),
    untell: this.db.prepare<[string, string, string, string, string]>(SWEEP_SQL.untell),
  }

  async prune({ before, now = before, limit, after }: PruneSlice): Promise<PruneProgress> {
    const place = readTold(after)
    if (place !== null) return await this.#pruneTold(place, { before, now }, limit)
    const gone = await this.#sql.forget.all({ before, limit })
    for (const file of gone) {
      const goneAt = lastThere(file, now)
      if (goneAt !== null) await this.#sql.note.run({ sweep: file.sweep, goneAt })
    }
    return { pruned: gone.length, next: gone.length < limit ? nextTold(null) : '' }
  }

  async #pruneTold(place: ToldPlace, bounds: { before: number; now: number }, limit: number): Promise<PruneProgress> {
    const sweeps = readSweeps(await this.#sql.sweeps.all())
    const found = await this.#sql.toldAfter.all({ ...place, limit })
    let pruned = 0
    for (const { account, storage, file, type, event, at } of found) {
      const sweep = sweeps.get(`${account} ${storage}`) ?? null
      if (isTooNew({ at }, sweep?.state ?? null, bounds.now)) continue
      const known = sweep === null ? undefined : await this.#sql.judged.get(sweep.id, file)
      const facts = { known: readJudged(known), state: sweep?.state ?? null }
      const verdict = judgeTold({ type, at }, facts, bounds.before)
      if (verdict === 'keep') continue
      if (sweep !== null && verdict === 'forget') await this.#sql.note.run({ sweep: sweep.id, goneAt: at })
      if (sweep !== null && known !== undefined) await this.#sql.judge.run(toldBit(type), sweep.id, file)
      await this.#sql.untell.run(account, storage, file, type, event)
      pruned += 1
    }
    return { pruned, next: found.length < limit ? null : nextTold(found.at(-1) ?? null) }
  }
}
