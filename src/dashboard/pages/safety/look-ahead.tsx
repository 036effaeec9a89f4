import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { ProblemNote } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import { Path } from '../../parts/text.tsx'
import { useMay } from '../../state/session.ts'
import { type Approval, describeForeseen, describeForeseenEnd } from '../../words/approvals.ts'
import { countOf, formatBytes, formatCount, shortId } from '../../words/format.ts'

type Foreseen = AnswerOf<'POST /approvals/:id/look-ahead'>

/**
 * The effects that held runs would ask for after this list. A person asks, as it reads the service.
 */
export function LookAhead({ approval: { id, kind, status, hash, needs } }: { approval: Approval }) {
  const mayAct = useMay('operator')
  const look = useAction('POST /approvals/:id/look-ahead')
  if (!mayAct || kind !== 'guard' || status !== 'open') return null
  const { data, error, isPending } = look
  const input = { params: { id }, body: {} }
  const beside = (
    <>
      <button type="button" disabled={isPending} onClick={() => look.mutate(input)}>
        {data === undefined ? 'Look ahead' : 'Look ahead again'}
      </button>
      <CopyAs cli={`upshot approvals show ${id} --ahead`} to="POST /approvals/:id/look-ahead" input={input} />
    </>
  )
  return (
    <Card title="What comes after it" label="Look ahead" beside={beside}>
      <p className="quiet wrap">
        Its runs are previewed, with real reads and no effect. What they would ask for is not part of this list.
      </p>
      {isPending && (
        <p className="quiet" role="status">
          Previewing…
        </p>
      )}
      {error && <ProblemNote error={error} />}
      {data !== undefined && !isPending && <Answer foreseen={data} />}
      {data?.ahead.some(({ effects }) => effects > 0) && needs === 1 && (
        <p className="quiet wrap">
          To approve them with this list, each as it comes:{' '}
          <code>{`upshot approvals approve ${id} --hash ${hash.slice(0, 8)} --ahead ${countListed(data)}`}</code>
        </p>
      )}
    </Card>
  )
}

/** At most as many as the command takes. */
function countListed({ ahead }: Foreseen): number {
  return Math.min(
    200,
    ahead.reduce((sum, { list }) => sum + list.length, 0),
  )
}

function Answer({ foreseen: { runs, ahead } }: { foreseen: Foreseen }) {
  return (
    <div className="stack" role="status">
      {ahead.length === 0 && <p>No run waits for this list any more.</p>}
      {runs > ahead.length && (
        <p className="quiet">
          The first {formatCount(ahead.length)} of {countOf(runs, 'run')} were previewed.
        </p>
      )}
      {ahead.map((run) => (
        <Rest key={run.run} run={run} />
      ))}
    </div>
  )
}

/** A longer list is folded. */
const SHORT = 20

function Rest({ run }: { run: Foreseen['ahead'][number] }) {
  const { list, effects, end } = run
  const rows = (
    <ol className="pairs foreseen">
      {list.map(({ class: kind, path, target, step, bytes }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
        <li key={index}>
          <span className="quiet">{kind}</span>
          <Path text={path ?? target ?? step} />
          <span className="number quiet">{bytes === null ? '' : formatBytes(bytes)}</span>
        </li>
      ))}
    </ol>
  )
  return (
    <div className="stack">
      <p>
        <Link className="mono" href={`/runs/${run.run}`}>
          {shortId(run.run)}
        </Link>{' '}
        {describeForeseen(run)}
      </p>
      {list.length <= SHORT ? (
        rows
      ) : (
        <details>
          <summary>{effects > list.length ? `The first ${list.length} of them` : 'All of them'}</summary>
          {rows}
        </details>
      )}
      <p className="quiet wrap">{describeForeseenEnd(end)}</p>
    </div>
  )
}
