import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'
import { AnswerFields, readAnswer } from '../safety/answer-fields.tsx'

type Hook = AnswerOf<'GET /hooks'>['items'][number]

/** The callback URLs that a run has opened. An operator may answer in place of the sender. */
export function HooksCard({ run }: { run: string }) {
  const hooks = useApi('GET /hooks', { query: { run } })
  const [answered, setAnswered] = useState<Hook | null>(null)
  const mayAct = useMay('operator')
  const items = hooks.data?.items ?? []
  if (items.length === 0) return null
  return (
    <section className="card padded stack" aria-label="Callbacks">
      <h2>Callbacks</h2>
      <ul>
        {items.map((hook) => (
          <li className="row" key={hook.id}>
            <strong>{hook.step}</strong>
            <span className="quiet wrap">{hook.ask ?? hook.address}</span>
            <span className="quiet">
              · {describe(hook)}
              {hook.state === 'open' && (
                <>
                  {' '}
                  until <When at={hook.expiresAt} />
                </>
              )}
            </span>
            {mayAct && hook.state === 'open' && (
              <button type="button" className="push" onClick={() => setAnswered(hook)}>
                Answer…
              </button>
            )}
          </li>
        ))}
      </ul>
      {answered && <AnswerDialog run={run} hook={answered} onClose={() => setAnswered(null)} />}
    </section>
  )
}

function describe({ state, answers, isMany }: Hook): string {
  return isMany ? `${state}, ${countOf(answers, 'answer')}` : state
}

function AnswerDialog({ run, hook, onClose }: { run: string; hook: Hook; onClose: () => void }) {
  const answer = useAction('POST /hooks/:id/answer')
  const [fields, setFields] = useState<Record<string, string>>({})
  const params = { id: hook.id }
  const schema = hook.data ?? {}
  return (
    <Confirm
      title={hook.ask ?? `Answer "${hook.step}" in place of its sender?`}
      action="Answer"
      beside={
        <CopyAs
          cli={`upshot runs answer ${run} "${hook.step}" --data null`}
          url={urlOf('POST /hooks/:id/answer', { params, body: { data: null } })}
          body={{ data: null }}
        />
      }
      onClose={onClose}
      perform={async (reason) => answer.mutateAsync({ params, body: { data: readAnswer(schema, fields), reason } })}
    >
      <AnswerFields schema={schema} fields={fields} setFields={setFields} />
    </Confirm>
  )
}
