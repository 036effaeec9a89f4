import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { call } from '../../api/client.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { When } from '../../parts/when.tsx'

type Token = AnswerOf<'GET /tokens'>['items'][number]

const COLUMNS: readonly Column<Token>[] = [
  { title: 'Token', width: '180px', cell: ({ name }) => name },
  { title: 'Role', width: '110px', cell: ({ role }) => role },
  { title: 'Made', width: '100px', cell: ({ createdAt }) => <When at={createdAt} /> },
  { title: 'Ends', width: '100px', cell: ({ expiresAt }) => <When at={expiresAt} /> },
  { title: 'Last used', width: '100px', cell: ({ lastUsedAt }) => <When at={lastUsedAt} /> },
  { title: '', cell: (token) => <Revoke token={token} /> },
]

/** Tokens of programs. A secret is shown once. */
export function Tokens() {
  const tokens = useApi('GET /tokens', {})
  const [isAdding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <div className="stack">
      <div className="row">
        <button type="button" className="push" onClick={() => setAdding(true)}>
          New token…
        </button>
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
      {isAdding && <NewToken onClose={() => setAdding(false)} show={setSecret} />}
      {secret !== null && <SecretOnce secret={secret} onClose={() => setSecret(null)} />}
    </div>
  )
}

function NewToken({ onClose, show }: { onClose: () => void; show: (secret: string) => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Token['role']>('viewer')
  const add = async (reason: string | undefined) => {
    const { secret } = await call('POST /tokens', { body: { name, role, reason } })
    show(secret)
  }
  return (
    <Confirm title="New token" action="Make the token" onClose={onClose} perform={add}>
      <label>
        Name
        <input required value={name} placeholder="ci" onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        Role
        <select value={role} onChange={(event) => setRole(event.target.value as Token['role'])}>
          <option>viewer</option>
          <option>operator</option>
          <option>admin</option>
        </select>
      </label>
      <p className="quiet">It ends after 90 days.</p>
    </Confirm>
  )
}

function Revoke({ token: { id, revokedAt } }: { token: Token }) {
  const revoke = useAction('DELETE /tokens/:id')
  if (revokedAt !== null) return <span className="quiet">revoked</span>
  return (
    <button type="button" className="danger plain" onClick={() => revoke.mutate({ params: { id } })}>
      Revoke
    </button>
  )
}
