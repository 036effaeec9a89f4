import { type FormEvent, useState } from 'react'
import type { AnswerOf, InputOf } from '../../../admin/contract/routes.ts'
import { useAction } from '../../api/use-api.ts'
import { ProblemNote } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import { Look, WorkflowLink } from '../../parts/text.tsx'
import { useMay } from '../../state/session.ts'
import { lookOfFate } from '../../words/states.ts'

type Matches = AnswerOf<'POST /events/match'>
type Match = Matches['workflows'][number]
type Asked = InputOf<'POST /events/match'>['body']

/** A stored event, and what the workflows would make of it now. */
export function AskWorkflows({ event }: { event: { id: string; account: string; isPruned: boolean } }) {
  const mayAct = useMay('operator')
  const match = useAction('POST /events/match')
  if (!mayAct || event.isPruned) return null
  const ask = () => match.mutate({ body: { event: event.id, account: event.account } })
  const beside = (
    <button type="button" disabled={match.isPending} onClick={ask}>
      Ask the workflows
    </button>
  )
  return (
    <Card title="What it would start now" label="Matches" beside={beside}>
      <p className="quiet wrap">
        Checks the conditions of each workflow. Nothing is started: <code>upshot events match {event.id}</code>
      </p>
      <Answer of={match} />
    </Card>
  )
}

export function TryEvent({ workflow, type: first = 'file.created' }: { workflow?: string; type?: string | undefined }) {
  const mayAct = useMay('operator')
  const match = useAction('POST /events/match')
  const [type, setType] = useState(first)
  const [data, setData] = useState('{\n  "service": "storage_a"\n}')
  const [fault, setFault] = useState<string | null>(null)
  if (!mayAct) return null
  const submit = (given: FormEvent) => {
    given.preventDefault()
    const body = readAsked(type, data)
    setFault(body === null ? 'The data is no JSON object.' : null)
    if (body !== null) match.mutate({ body })
  }
  return (
    <details className="card padded fold">
      <summary>Try an event</summary>
      <form className="form" onSubmit={submit} aria-label="Try an event">
        <p className="quiet">Checks the conditions of {workflow ?? 'each workflow'}. Nothing is started or stored.</p>
        <label>
          Type
          <input
            className="mono"
            value={type}
            maxLength={100}
            required
            onChange={(event) => setType(event.target.value)}
          />
        </label>
        <label>
          Data as JSON
          <textarea rows={6} className="mono" value={data} onChange={(event) => setData(event.target.value)} />
        </label>
        {fault && <p role="alert">{fault}</p>}
        <div className="row">
          <button type="submit" disabled={match.isPending}>
            Ask {workflow ?? 'the workflows'}
          </button>
        </div>
      </form>
      <Answer of={match} only={workflow} />
    </details>
  )
}

function readAsked(type: string, text: string): Asked | null {
  try {
    const data: unknown = JSON.parse(text)
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
    return isObject ? { type: type.trim(), data: data as Record<string, unknown> } : null
  } catch {
    return null
  }
}

function Answer({ of, only }: { of: ReturnType<typeof useAction<'POST /events/match'>>; only?: string | undefined }) {
  if (of.isPending) return <p className="quiet">Asking…</p>
  if (of.error) return <ProblemNote error={of.error} />
  if (of.data === undefined) return null
  const { workflows, broken } = of.data
  const asked = workflows.filter(({ workflow }) => only === undefined || workflow === only)
  const concerned = only === undefined ? asked.filter(({ fate }) => fate !== 'ignored') : asked
  const others = asked.length - concerned.length
  return (
    <div className="stack" role="status">
      {concerned.length === 0 && <p>No workflow of the project runs on this type.</p>}
      <ul className="stack">
        {concerned.map((match) => (
          <MatchOf key={match.workflow} match={match} />
        ))}
      </ul>
      {others > 0 && (
        <p className="quiet">{others === 1 ? 'One other does' : `${others} others do`} not run on this type.</p>
      )}
      {broken.map(({ file, message }) => (
        <p key={file} className="wrap">
          <code>{file}</code> cannot be loaded: {message}
        </p>
      ))}
    </div>
  )
}

function MatchOf({ match: { workflow, fate, clauses } }: { match: Match }) {
  return (
    <li>
      <div className="row">
        <Look look={lookOfFate(fate)} />
        <WorkflowLink id={workflow} />
      </div>
      <ul className="pairs clauses small quiet">
        {clauses.map(({ name, fits, says }) => (
          <li key={name} data-fits={fits}>
            <span aria-hidden="true">{fits ? '✓' : '✗'}</span>
            <code>{name}</code>
            <span className="wrap">
              <span className="unseen">{fits ? 'fits: ' : 'does not fit: '}</span>
              {says}
            </span>
          </li>
        ))}
      </ul>
    </li>
  )
}
