import type { SweepWrites } from '../../../core/store/health/sweeps.ts'
import type { GroupCommit } from '../database/group-commit.ts'
import type { SweepTable } from './sweep-table.ts'

/** The writes of sweeps and of what they found. */
export function sweepWrites({ sweeps }: { sweeps: SweepTable }, commit: Pick<GroupCommit, 'write'>): SweepWrites {
  return {
    saveSweep: (kept, change) => commit.write(() => sweeps.save(kept, change)),
    savePage: (kept, page, files, now) => commit.write(() => sweeps.savePage(kept, page, files, now)),
    saveFileBook: (book, version, events) => commit.write(() => sweeps.saveBook(book, version, events)),
    moveFinding: (key, from, to, reason) => commit.write(() => sweeps.moveFinding(key, from, to, reason)),
    makeUpEvent: (key, event) => commit.write(() => sweeps.makeUp(key, event)),
  }
}
