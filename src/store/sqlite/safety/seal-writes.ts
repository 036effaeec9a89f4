import type { SealWrites } from '../../../core/store/safety/seals.ts'
import type { EffectTable } from '../../tables/safety/effect-table.ts'
import type { SealTable } from '../../tables/safety/seal-table.ts'
import type { GroupCommit } from '../database/group-commit.ts'

/** The writes of the chain over the effect ledger. */
export function sealWrites(
  { seals, effects }: { seals: SealTable; effects: EffectTable },
  commit: Pick<GroupCommit, 'write'>,
): SealWrites {
  return {
    sealEffects: async ({ now, limit }) => commit.write(async () => seals.seal(now, limit)),
    noteRestored: async ({ actor, reason, now }) =>
      commit.write(async () => {
        await effects.note({ at: now, phase: 'noted', operation: 'restored', actor, error: reason })
        return seals.append({ kind: 'restored', at: now, note: `${actor}: ${reason}` })
      }),
  }
}
