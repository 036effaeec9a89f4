import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { formOf } from '../../parts/fields.tsx'
import { Card } from '../../parts/page.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'

type Hook = AnswerOf<'GET /hooks'>['items'][number]

/** The callback URLs that a run has opened. An operator may answer in place of the sender. */
export function HooksCard({ run }: { run: string }) {
  const hooks = useApi('GET /hooks', { query: { run } })
  const mayAct = useMay('operator')
  const items = hooks.data?.items ?? []
  if (items.length === 0) return null
  return (
    <Card title="Callbacks">
      <ul>
        {items.map((hook) => (
          <li className="row" key={hook.id}>
            <strong>{hook.step}</strong>
            <span className="quiet wrap">{hook.ask ?? hook.address}</span>
            <span className="quiet">
              · {hook.isMany ? `${hook.state}, ${countOf(hook.answers, 'answer')}` : hook.state}
              {hook.state === 'open' && (
                <>
                  {' '}
                  until <When at={hook.expiresAt} />
                </>
              )}
            </span>
            {mayAct && hook.state === 'open' && (
              <span className="push">
                <Answer run={run} hook={hook} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Answer({ run, hook: { id, step, ask, data } }: { run: string; hook: Hook }) {
  const form = formOf(data ?? {})
  return (
    <Act
      label="Answer…"
      title={ask ?? `Answer "${step}" in place of its sender?`}
      action="Answer"
      fields={form.fields}
      to="POST /hooks/:id/answer"
      given={(values) => ({ params: { id }, body: { data: form.valueOf(values) } })}
      cli={`upshot runs answer ${run} "${step}" --data null`}
    />
  )
}
