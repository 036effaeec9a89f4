import { useAction } from '../../api/use-api.ts'
import { ProblemNote } from '../../parts/messages.tsx'
import { Look } from '../../parts/status.tsx'
import { useMay } from '../../state/session.ts'
import { lookOfFinding } from '../../words/states.ts'

/** The checks of `upshot doctor`, asked for by a person: they call the service and the endpoints. */
export function Doctor() {
  const mayAct = useMay('operator')
  const examine = useAction('POST /doctor')
  if (!mayAct) return null
  const { data, error, isPending } = examine
  return (
    <section className="card padded stack" aria-label="Doctor">
      <div className="row">
        <h2>Doctor</h2>
        <button type="button" className="push" disabled={isPending} onClick={() => examine.mutate({ body: {} })}>
          {data === undefined ? 'Examine' : 'Examine again'}
        </button>
      </div>
      <p className="quiet">
        Machine, database, endpoints and service are checked, as by <code>upshot doctor</code>.
      </p>
      {isPending && <p className="quiet">Examining…</p>}
      {error && <ProblemNote error={error} />}
      {data !== undefined && !isPending && (
        <div role="status">
          <ul className="findings">
            {data.findings.map(({ check, level, found, fix }) => (
              <li key={`${check} ${found}`}>
                <Look look={lookOfFinding(level, check)} />
                <span className="wrap">
                  {found}
                  {fix !== null && <span className="quiet"> — {fix}</span>}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}
