import type { Command } from '@commander-js/extra-typings'
import { PRUNE_KINDS, type Prunable, type PruneKind, type Retention } from '../../../core/store/retention.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes } from '../../terminal/format-value.ts'
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
  files: 'files that are gone, and what events told of judged ones',
} as const satisfies Record<PruneKind, string>

const DAY_MS = 86_400_000

/** `upshot db prune`: deletes old data now, in small commits, also beside a running app. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .addHelpText(
      'after',
      '\nThe ages are those of `retention` in the project file, by which the app prunes every hour.\n' +
        'Under --dry-run, and before it asks, it counts what would go: up to 100,000 of each kind.',
    )
    .action(() =>
      project.withStore(async (store, config) => {
        const { yes, dryRun } = out.given
        const forecast = yes && !dryRun ? null : await foresee(store, config.retention)
        const bounds = PRUNE_KINDS.map((kind) =>
          describeBound(kind, config.retention[kind], forecast === null ? null : forecast[kind]),
        )
        if (!(await confirm(out, { will: 'delete data older than this', things: bounds }))) {
          out.result({ pruned: null, prunable: forecast }, () => ['Nothing was deleted.'])
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

async function foresee(store: Pick<Store, 'countPrunable'>, retention: Retention) {
  const { foreseePrune } = await import('../../../schedule/foresee-prune.ts')
  return foreseePrune({ store, clock: commandClock, retention })
}

function describeBound(kind: PruneKind, ageMs: number | null, prunable: Prunable | null): string {
  if (ageMs === null) return `${LABELS[kind]}: kept forever`
  const age = `${LABELS[kind]}: ${Number((ageMs / DAY_MS).toFixed(1))} days`
  return prunable === null ? age : `${age}; ${describePrunable(prunable)}`
}

/** Such as `100,001 or more would go, 3 weeks of them at once (1.2 GB on disk)`. */
function describePrunable({ rows, isComplete, bytes, weeks }: Prunable): string {
  const size = bytes ? ` (${formatBytes(bytes)})` : ''
  const counted = `${rows.toLocaleString('en')}${isComplete ? '' : ' or more'}${size} would go`
  if (weeks === null) return counted
  const many = `${weeks.count} ${weeks.count === 1 ? 'week' : 'weeks'}`
  return `${counted}, ${many} of them at once (${formatBytes(weeks.bytes)} on disk)`
}

function sum(counts: Record<PruneKind, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}
