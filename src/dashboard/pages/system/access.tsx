import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act, SecretOnce } from '../../parts/act.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { type Answer, Empty, Loaded } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import type { Field } from '../../parts/read-fields.ts'
import { When } from '../../parts/when.tsx'

/** Tokens of programs, and logins of browsers: all that may use the app. */
export function Access() {
  const tokens = useApi('GET /tokens', {})
  return (
    <div className="stack">
      <Tokens of={tokens} />
      {/* The tokens would push them down. */}
      {!tokens.isPending && <Logins />}
    </div>
  )
}

const TOKENS: readonly Column<AnswerOf<'GET /tokens'>['items'][number]>[] = [
  { title: 'Token', className: 'wide', cell: ({ name }) => name },
  { title: 'Role', width: '110px', cell: ({ role }) => role },
  { title: 'Created', width: '100px', cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    title: 'Expires',
    width: '100px',
    cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <When at={expiresAt} />),
  },
  { title: 'Last used', width: '100px', cell: ({ lastUsedAt }) => <When at={lastUsedAt} /> },
  {
    title: 'End it',
    width: '110px',
    cell: ({ id, name, revokedAt }) =>
      revokedAt !== null ? (
        <span className="quiet">revoked</span>
      ) : (
        <Act
          label="Revoke…"
          about={`Revoke ${name}`}
          look="danger plain"
          title={`Revoke the token ${name}?`}
          action="Revoke the token"
          isDangerous
          to="DELETE /tokens/:id"
          given={{ params: { id } }}
          cli={`upshot tokens revoke ${id}`}
        >
          <p>Programs that use it are refused from now on. It cannot be brought back.</p>
        </Act>
      ),
  },
]

const NEW: readonly Field[] = [
  { name: 'name', label: 'Name', isRequired: true, example: 'ci' },
  { name: 'role', label: 'Role', options: ['viewer', 'operator', 'admin'] },
]

/** Tokens of programs. A secret is shown once. */
function Tokens({ of: tokens }: { of: Answer<AnswerOf<'GET /tokens'>> }) {
  const beside = (
    <Act
      label="New token…"
      title="New token"
      action="Make the token"
      fields={NEW}
      to="POST /tokens"
      then={({ secret }) => <SecretOnce secret={secret}>A program sends it as its bearer token.</SecretOnce>}
    >
      <p className="quiet">It expires after 90 days.</p>
    </Act>
  )
  return (
    <Card title="Tokens" isPlain beside={beside}>
      <Loaded of={tokens}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No token yet.">
              <p>A token lets a program use the API with a role of its own.</p>
            </Empty>
          ) : (
            <DataTable label="Tokens" columns={TOKENS} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}

const LOGINS: readonly Column<AnswerOf<'GET /sessions'>['items'][number]>[] = [
  { title: 'Person', className: 'wide', cell: ({ name }) => name },
  { title: 'Role', width: '110px', cell: ({ role }) => role },
  { title: 'Address', width: '170px', className: 'spare', cell: ({ address }) => address },
  { title: 'Created', width: '100px', cell: ({ createdAt }) => <When at={createdAt} /> },
  { title: 'Last used', width: '100px', cell: ({ seenAt }) => <When at={seenAt} /> },
  {
    title: 'End it',
    width: '110px',
    cell: ({ id, name }) => (
      <Act
        label="End…"
        about={`End the login of ${name}`}
        look="danger plain"
        title={`End the login of ${name}?`}
        action="End the login"
        isDangerous
        to="DELETE /sessions/:id"
        given={{ params: { id } }}
      >
        <p>That browser has to log in again. If it is this one, you do.</p>
      </Act>
    ),
  },
]

/** Logins of browsers that are not over. */
function Logins() {
  const logins = useApi('GET /sessions', {})
  return (
    <Card title="Logins" isPlain>
      <Loaded of={logins}>
        {({ items }) => <DataTable label="Logins" columns={LOGINS} rows={items} keyOf={({ id }) => id} />}
      </Loaded>
    </Card>
  )
}
