import { Option } from '@commander-js/extra-typings'
import { APPROVAL_ROUTES } from '../../../../admin/contract/resources/safety/approvals.ts'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import { APPROVAL_STATUSES } from '../../../../core/safety/approval.ts'
import { listCommand } from '../../../operate/list-command.ts'
import { formatBytes, formatMoment } from '../../../terminal/format-value.ts'
import type { Column } from '../../../terminal/table.ts'

type Approval = AnswerOf<'GET /approvals/:id'>

export const APPROVAL_COLUMNS: Column<Approval>[] = [
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
    value: ({ bytes, items, kind }) => (kind === 'repair' || items === 0 ? null : formatBytes(bytes)),
    align: 'right',
    isMinor: true,
  },
  {
    title: 'EXPIRES',
    value: ({ expiresAt, status }) => (status === 'open' ? formatMoment(expiresAt) : null),
    cut: 'never',
  },
]

export const define = listCommand(APPROVAL_ROUTES, 'GET /approvals', {
  without: ['status'],
  options: (command) => {
    const status = new Option('--status <status>', 'only approvals with this status, or all')
    command.addOption(status.choices([...APPROVAL_STATUSES, 'all']).default('open'))
  },
  query: ({ status }) => (status === 'all' ? {} : { status }),
  columns: APPROVAL_COLUMNS,
  empty: 'Nothing waits for people.',
  noMatch: 'Nothing waits for people, or no approval matches.',
  after: ({ items: [first] }) =>
    first?.status === 'open' ? [`Look at the list: upshot approvals show ${first.id}`] : [],
})

/** The workflow with the limit that it is over, or with its question; a repair has no workflow. */
export function describeApproval({ kind, workflow, why }: Pick<Approval, 'kind' | 'workflow' | 'why'>): string {
  if (kind === 'repair') return `repair: ${why}`
  return kind === 'guard' ? `${workflow} is ${why}` : `${workflow} asks: ${why}`
}
