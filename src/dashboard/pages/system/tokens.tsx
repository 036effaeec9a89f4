import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act, ActNow, SecretOnce } from '../../parts/act.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import type { Field } from '../../parts/fields.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { When } from '../../parts/when.tsx'

const COLUMNS: readonly Column<AnswerOf<'GET /tokens'>['items'][number]>[] = [
  { title: 'Token', width: '180px', cell: ({ name }) => name },
  { title: 'Role', width: '110px', cell: ({ role }) => role },
  { title: 'Made', width: '100px', cell: ({ createdAt }) => <When at={createdAt} /> },
  { title: 'Ends', width: '100px', cell: ({ expiresAt }) => <When at={expiresAt} /> },
  { title: 'Last used', width: '100px', cell: ({ lastUsedAt }) => <When at={lastUsedAt} /> },
  {
    title: '',
    cell: ({ id, revokedAt }) =>
      revokedAt !== null ? (
        <span className="quiet">revoked</span>
      ) : (
        <ActNow label="Revoke" look="danger plain" to="DELETE /tokens/:id" input={{ params: { id } }} />
      ),
  },
]

const NEW: readonly Field[] = [
  { name: 'name', label: 'Name', isRequired: true, example: 'ci' },
  { name: 'role', label: 'Role', options: ['viewer', 'operator', 'admin'] },
]

/** Tokens of programs. A secret is shown once. */
export function Tokens() {
  const tokens = useApi('GET /tokens', {})
  return (
    <div className="stack">
      <div className="row">
        <span className="push">
          <Act
            label="New token…"
            title="New token"
            action="Make the token"
            fields={NEW}
            to="POST /tokens"
            then={({ secret }) => <SecretOnce secret={secret} />}
          >
            <p className="quiet">It ends after 90 days.</p>
          </Act>
        </span>
      </div>
      <Loaded of={tokens}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No token yet.">
              <p>A token lets a program use the API with a role of its own.</p>
            </Empty>
          ) : (
            <DataTable label="Tokens" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </div>
  )
}
