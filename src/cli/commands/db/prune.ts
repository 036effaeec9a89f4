import type { Command } from '@commander-js/extra-typings'
import { PRUNE_KINDS, type PruneKind } from '../../../core/store/retention.ts'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'

const THINGS = {
  runs: 'completed runs',
  failures: 'failed and canceled runs',
  refusals: 'refused deliveries',
  deliveries: 'rows of the delivery ledger',
  payloads: 'bodies of events',
} as const satisfies Record<PruneKind, string>

const DAY_MS = 86_400_000

/**
 * `upshot db prune`: what the app does every hour, now: beside it, too, since both go by small
 * commits.
 */
export function define(command: Command, out: Output): void {
  command
    .addHelpText(
      'after',
      '\nHow old things may get is the `retention` of the project file. Ids of events are never removed.',
    )
    .action(() =>
      withStore(async (store, config) => {
        const bounds = PRUNE_KINDS.map((kind) => describeBound(kind, config.retention[kind]))
        if (!(await confirm(out, { will: 'remove what is older than this', things: bounds }))) {
          out.result({ pruned: null }, () => ['Nothing was removed.'])
          return
        }
        const { pruneStore } = await import('../../../schedule/pruner.ts')
        using progress = showProgress(out, { title: 'Pruning', unit: 'count' })
        const pruned = await pruneStore({
          store,
          clock: systemClock,
          retention: config.retention,
          signal: onInterrupt(),
          onSlice: (counts) => progress.set(sum(counts)),
        })
        out.result({ pruned }, () => PRUNE_KINDS.map((kind) => `${String(pruned[kind]).padStart(8)} ${THINGS[kind]}`))
      }),
    )
}

function describeBound(kind: PruneKind, ageMs: number | null): string {
  return `${THINGS[kind]}: ${ageMs === null ? 'kept forever' : `${Number((ageMs / DAY_MS).toFixed(1))} days`}`
}

function sum(counts: Record<PruneKind, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}
