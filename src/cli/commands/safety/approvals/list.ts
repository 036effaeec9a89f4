import { type Command, Option } from '@commander-js/extra-typings'
import { APPROVAL_STATUSES, type Approval } from '../../../../core/safety/approval.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatBytes, formatMoment, withIsoTimes } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

/** `upshot approvals list`: what waits for people, newest first. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .addOption(
      new Option('--status <status>', 'only approvals with this status, or all')
        .choices([...APPROVAL_STATUSES, 'all'] as const)
        .default('open' as const),
    )
    .option('--workflow <id>', 'only approvals of the workflow with this id')
    .option('--limit <n>', 'maximum number of approvals, 1 to 10000', countUpTo(10_000), 20)
    .action(({ status, workflow, limit }) =>
      project.withStore(async (store) => {
        const now = commandClock.now()
        const found = await store.listApprovals({
          limit,
          now,
          ...(status === 'all' ? {} : { status }),
          ...(workflow === undefined ? {} : { workflow }),
        })
        out.result(found.map(withIsoTimes), () => formatTable(found, approvalColumns(now), out))
        const [first] = found
        if (first === undefined) out.note(status === 'open' ? 'Nothing waits for people.' : 'No approval matches.')
        else if (first.status === 'open') out.note(`Look at the list: upshot approvals show ${first.id}`)
      }),
    )
}

/** Columns of a table of approvals. */
export function approvalColumns(now: number): Column<Approval>[] {
  return [
    { title: 'ID', value: ({ id }) => id, cut: 'never' },
    { title: 'STATUS', value: ({ status }) => status, cut: 'never' },
    { title: 'WHAT', value: describeApproval, most: 100, least: 18 },
    { title: 'RUNS', value: ({ runs, kind }) => (kind === 'repair' ? null : runs), align: 'right', isMinor: true },
    {
      title: 'ITEMS',
      value: ({ openItems, items, status }) => (status === 'open' ? openItems : items),
      align: 'right',
    },
    {
      title: 'BYTES',
      value: ({ bytes, kind }) => (kind === 'guard' ? formatBytes(bytes) : null),
      align: 'right',
      isMinor: true,
    },
    {
      title: 'EXPIRES',
      value: ({ expiresAt, status }) => (status === 'open' ? formatMoment(expiresAt, now) : null),
      cut: 'never',
    },
  ]
}

/** The workflow with the limit that it is over, or with its question; a repair has no workflow. */
export function describeApproval({ kind, workflow, why }: Approval): string {
  if (kind === 'repair') return `repair: ${why}`
  return kind === 'guard' ? `${workflow} is ${why}` : `${workflow} asks: ${why}`
}
