import { useApi } from '../../api/use-api.ts'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { formatBytes } from '../../words/format.ts'

/** The part of a plan that the page shows; a viewer gets it masked. */
interface Plan {
  effects: { class: string; step: string; target: string | null; asked: { path?: string; bytes?: number } | null }[]
}

/** The plan of a run that was only planned: what it would do, and everything else as JSON. */
export function PlanTab({ id }: { id: string }) {
  const output = useApi('GET /runs/:id/output', { params: { id } })
  return (
    <Loaded of={output}>
      {({ isWhole, value, text }) => (
        <div className="stack">
          <p>Planned only: nothing of this was done.</p>
          {isWhole && isPlan(value) && <Effects plan={value} />}
          {isWhole ? <JsonTree value={value} /> : <pre className="wrap">{text}</pre>}
        </div>
      )}
    </Loaded>
  )
}

function Effects({ plan: { effects } }: { plan: Plan }) {
  if (effects.length === 0) return <p className="quiet">It would do nothing outside.</p>
  return (
    <ol className="attempts" aria-label="What it would do">
      {effects.map(({ class: kind, step, target, asked }) => (
        <li key={step}>
          <strong>would {kind}</strong> <span className="wrap">{asked?.path ?? target ?? step}</span>
          {typeof asked?.bytes === 'number' && <span className="quiet"> {formatBytes(asked.bytes)}</span>}
        </li>
      ))}
    </ol>
  )
}

function isPlan(value: unknown): value is Plan {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<Plan>).effects)
}
