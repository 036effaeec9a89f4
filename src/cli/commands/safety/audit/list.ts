import type { Command } from '@commander-js/extra-typings'
import type { AuditFilter, AuditRecord } from '../../../../core/safety/audit.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo, parseSince, readMoments } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { findEventId } from '../../../open/find-event.ts'
import { findRun } from '../../../open/find-run.ts'
import { formatMoment, withIsoTimes } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { findApproval } from '../approvals/require-approval.ts'

/** `upshot audit list`: every action of a person, newest first. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--action <action>', 'only this action or family, such as run.retry or run.*')
    .option('--target <id>', 'only actions on this run, event, approval, workflow, endpoint or account')
    .option('--actor <name>', 'only actions of this person, such as cli:ada')
    .option('--since <moment>', 'only actions since then, such as 1h or 2026-05-01', parseSince)
    .option('--until <moment>', 'only actions before then', parseSince)
    .option('--limit <n>', 'maximum number of rows, 1 to 10000', countUpTo(10_000), 20)
    .action(({ limit, target: named, ...rest }) =>
      project.withLists(async (store) => {
        const filter = {
          ...readMoments(rest, commandClock.now()),
          target: named === undefined ? undefined : await findTarget(store, named),
        }
        const given = Object.entries(filter).filter(([, value]) => value !== undefined)
        const rows = await store.listActions({ limit, ...(Object.fromEntries(given) as AuditFilter) })
        out.result(rows.map(withIsoTimes), () => formatTable(rows, columns(commandClock.now()), out))
        if (rows.length === 0) out.note('No action of a person matches.')
      }),
    )
}

/** The whole id that `named` begins; itself for a name, and for what is pruned. */
async function findTarget(store: ReadStore, named: string): Promise<string> {
  if (named.startsWith('run_')) return (await findRun(store, named))?.id ?? named
  if (named.startsWith('apr_')) return (await findApproval(store, named))?.id ?? named
  return named.startsWith('evt_') ? findEventId(store, named) : named
}

function columns(now: number): Column<AuditRecord>[] {
  return [
    { title: 'AT', value: ({ at }) => formatMoment(at, now) },
    { title: 'WHO', value: ({ actor }) => actor, most: 40 },
    { title: 'FROM', value: ({ from }) => from, most: 40 },
    { title: 'ACTION', value: ({ action }) => action },
    { title: 'TARGET', value: ({ target }) => target, most: 60 },
    {
      title: 'OUTCOME',
      value: ({ outcome }) => outcome,
      style: ({ outcome }) => (outcome === 'refused' ? 'red' : null),
    },
    { title: 'WHY', value: ({ reason, error }) => reason ?? error, most: 100 },
  ]
}
