import type { SweepWrites } from '../../../core/store/health/sweeps.ts'
import type { SweepTable } from '../../tables/health/sweep-table.ts'
import type { GroupCommit } from '../database/group-commit.ts'

/** The writes of sweeps and of what they found. */
export function sweepWrites({ sweeps }: { sweeps: SweepTable }, commit: Pick<GroupCommit, 'write'>): SweepWrites {
  return {
    saveSweep: async (kept, change) => commit.write(async () => sweeps.save(kept, change)),
    savePage: async (kept, page, files, now) => commit.write(async () => sweeps.savePage(kept, page, files, now)),
    saveFileBook: async (book, version, events) => commit.write(async () => sweeps.saveBook(book, version, events)),
    moveFinding: async (key, from, to, reason) => commit.write(async () => sweeps.moveFinding(key, from, to, reason)),
    makeUpEvent: async (key, event) => commit.write(async () => sweeps.makeUp(key, event)),
  }
}
