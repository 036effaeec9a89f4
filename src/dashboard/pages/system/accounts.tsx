import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/messages.tsx'

type Account = AnswerOf<'GET /accounts'>['items'][number]

const COLUMNS: readonly Column<Account>[] = [
  { title: 'Account', width: '160px', cell: ({ name }) => name },
  { title: 'Service', className: 'wide', cell: ({ baseUrl }) => <span className="mono">{baseUrl}</span> },
  { title: 'Plan', width: '110px', cell: ({ plan }) => String(plan) },
  { title: 'Endpoints', className: 'wide', cell: ({ endpoints }) => endpoints.join(', ') },
  { title: 'Kept by', width: '120px', cell: ({ keeper }) => <span className="quiet">{keeper}</span> },
]

/** Accounts of the service, never with their keys. */
export function Accounts() {
  const accounts = useApi('GET /accounts', {})
  return (
    <Loaded of={accounts}>
      {({ items }) => <DataTable label="Accounts" columns={COLUMNS} rows={items} keyOf={({ name }) => name} />}
    </Loaded>
  )
}
