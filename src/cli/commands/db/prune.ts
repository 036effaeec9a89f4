import type { Command } from '@commander-js/extra-typings'
import { PRUNE_KINDS, type PruneKind } from '../../../core/store/retention.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { confirm } from '../../terminal/confirm.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { showProgress } from '../../terminal/progress.ts'

const LABELS = {
  runs: 'completed runs',
  failures: 'failed and canceled runs',
  refusals: 'refused deliveries',
  deliveries: 'rows of the delivery ledger',
  payloads: 'bodies of events',
  audit: 'rows of the audit log',
  effects: 'rows of the effect ledger',
} as const satisfies Record<PruneKind, string>

const DAY_MS = 86_400_000

/** `upshot db prune`: deletes old data now, in small commits, also beside a running app. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .addHelpText(
      'after',
      '\nThe ages are those of `retention` in the project file, by which the app prunes every hour.',
    )
    .action(() =>
      project.withStore(async (store, config) => {
        const bounds = PRUNE_KINDS.map((kind) => describeBound(kind, config.retention[kind]))
        if (!(await confirm(out, { will: 'delete data older than this', things: bounds }))) {
          out.result({ pruned: null }, () => ['Nothing was deleted.'])
          return
        }
        await project.recordAction({ action: 'db.prune', target: null, parameters: { ...config.retention } }, 'begun')
        const { pruneStore } = await import('../../../schedule/pruner.ts')
        using progress = showProgress(out, { title: 'Pruning', unit: 'count' })
        const pruned = await pruneStore({
          store,
          clock: commandClock,
          retention: config.retention,
          signal: onInterrupt(),
          onSlice: (counts) => progress.set(sum(counts)),
        })
        out.result({ pruned }, () => PRUNE_KINDS.map((kind) => `${String(pruned[kind]).padStart(8)} ${LABELS[kind]}`))
      }),
    )
}

function describeBound(kind: PruneKind, ageMs: number | null): string {
  return `${LABELS[kind]}: ${ageMs === null ? 'kept forever' : `${Number((ageMs / DAY_MS).toFixed(1))} days`}`
}

function sum(counts: Record<PruneKind, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}
