import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf, InputOf } from '../../../admin/contract/routes.ts'
import type { ApiError } from '../../api/api-error.ts'
import { follow } from '../../api/client.ts'
import { useAction } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { ProblemNote } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import { Path } from '../../parts/text.tsx'
import { useMay } from '../../state/session.ts'
import { type Approval, describeForeseen, describeForeseenEnd } from '../../words/approvals.ts'
import { countOf, formatBytes, formatCount, shortId } from '../../words/format.ts'

type Foreseen = AnswerOf<'POST /approvals/:id/look-ahead'>
type Effect = InputOf<'POST /approvals/:id/approve-ahead'>['body']['effects'][number]

/** Effects that are approved ahead at a time; the API takes no more. */
const MAX_AHEAD = 200

interface LookParts {
  approval: Approval
  /** Whether the whole list is shown, and nothing of it left out. */
  isWhole: boolean
}

/** The effects that held runs would ask for after this list. A person asks, as it reads the service. */
export function LookAhead({ approval, isWhole }: LookParts) {
  const mayAct = useMay('operator')
  const { kind, status, hash } = approval
  if (!mayAct || kind !== 'guard' || status !== 'open') return null
  return <Look key={hash} approval={approval} isWhole={isWhole} />
}

function Look({ approval, isWhole }: LookParts) {
  const { id, needs } = approval
  const look = useAction('POST /approvals/:id/look-ahead')
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
  const effects = data?.ahead.flatMap(({ run, list }) => list.map((effect) => ({ run, ...effect }))) ?? []
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
      {effects.length > 0 && !isPending && needs === 1 && (
        <ChooseAhead approval={approval} isWhole={isWhole} effects={effects} />
      )}
    </Card>
  )
}

interface ChooseParts extends LookParts {
  effects: readonly Effect[]
}

/** How many of the effects a person approves with this list, in the order in which they come. */
function ChooseAhead({ approval, isWhole, effects }: ChooseParts) {
  const { id, hash, mustSign } = approval
  const most = Math.min(MAX_AHEAD, effects.length)
  const [count, setCount] = useState(most)
  if (mustSign) {
    return (
      <p className="quiet wrap">
        To approve them with this list, each as it comes:{' '}
        <code>{`${approvingCommand(id, hash, most)} --as … --key-file …`}</code>
      </p>
    )
  }
  if (!isWhole) return <p className="quiet">To approve more ahead, show the whole list and leave nothing out.</p>
  const isCount = Number.isInteger(count) && count >= 1 && count <= most
  return (
    <div className="row">
      <label className="row">
        Of what comes next, at most
        <input
          type="number"
          min={1}
          max={most}
          value={Number.isNaN(count) ? '' : count}
          onChange={({ target }) => setCount(target.valueAsNumber)}
        />
      </label>
      <ApproveAhead
        label={isCount ? `Approve this list and up to ${formatCount(count)} more…` : 'Approve this list and more…'}
        isDisabled={!isCount}
        approval={approval}
        effects={isCount ? effects.slice(0, count) : []}
      />
    </div>
  )
}

const approvingCommand = (id: string, hash: string, count: number) =>
  `upshot approvals approve ${id} --hash ${hash.slice(0, 8)} --ahead ${count}`

interface GivenParts {
  label: string
  isDisabled: boolean
  approval: Approval
  effects: readonly Effect[]
}

/** Asks about the list and what was chosen of what comes next, then follows it. */
function ApproveAhead({ approval: { id, hash, openItems, bytes }, effects, ...button }: GivenParts) {
  return (
    <Act
      {...button}
      title={`Approve ${countOf(openItems, 'effect')} and ${formatCount(effects.length)} more?`}
      action={`Approve ${countOf(openItems + effects.length, 'effect')}`}
      isDangerous
      to="POST /approvals/:id/approve"
      given={{ params: { id }, body: { hash } }}
      cli={approvingCommand(id, hash, effects.length)}
      then={(_, { body: { reason } }) => <Follow id={id} effects={effects} reason={reason} />}
    >
      <p>
        This list ({formatBytes(bytes)}) begins at once. After it come these, {describeSize(effects)}. Each list that
        asks for nothing else is approved as it comes, while this dialog is open.
      </p>
      <Effects list={effects} />
    </Act>
  )
}

/** Their size in words. Only a delete has one. */
function describeSize(effects: readonly Effect[]): string {
  const unknown = effects.filter((effect) => effect.class === 'delete' && effect.bytes === null).length
  const size = formatBytes(effects.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0))
  return unknown === 0 ? `${size} in all` : `${size} in all and ${formatCount(unknown)} of unknown size`
}

/** The approvals as they come. The end of this part ends them. */
function Follow({ id, effects, reason }: Pick<GivenParts, 'effects'> & { id: string; reason?: string | undefined }) {
  const [progress, setProgress] = useState<AnswerOf<'POST /approvals/:id/approve-ahead'> | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  useEffect(() => {
    const gone = new AbortController()
    const input = { params: { id }, body: { effects: [...effects], reason } }
    const read = async () => {
      for await (const next of follow('POST /approvals/:id/approve-ahead', input, gone.signal)) setProgress(next)
    }
    read().catch((problem) => gone.signal.aborted || setError(problem))
    return () => gone.abort()
  }, [id, effects, reason])
  const { approved = 0, latest = [], stopped = null, held = null, isOver = false } = progress ?? {}
  return (
    <div className="stack">
      <h2 id="act-title">{isOver || error ? 'Approved ahead' : 'Approving what comes next'}</h2>
      <progress max={effects.length} value={approved} aria-label="Approved ahead" />
      <div role="status">
        <p>
          Approved {formatCount(approved)} of {formatCount(effects.length)} that were shown.
        </p>
        {latest.length > 0 && <Effects list={latest} />}
        {stopped && <p className="wrap">{stopped}</p>}
        {held && <Link href={`/approvals/${held}`}>Decide that list</Link>}
      </div>
      {error && <ProblemNote error={error} />}
      <form method="dialog">
        <button type="submit" className={isOver ? 'main' : undefined}>
          {isOver || error ? 'Close' : 'Stop'}
        </button>
      </form>
    </div>
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

function Effects({ list }: { list: readonly Omit<Effect, 'run'>[] }) {
  return (
    <ol className="pairs foreseen">
      {list.map(({ class: kind, path, target, step, bytes, isFolder }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
        <li key={index}>
          <span className="quiet">{kind}</span>
          <Path text={path ?? target ?? step} />
          <span className="number quiet">{isFolder ? 'folder' : bytes === null ? '' : formatBytes(bytes)}</span>
        </li>
      ))}
    </ol>
  )
}

/** A longer list is folded. */
const SHORT = 20

function Rest({ run }: { run: Foreseen['ahead'][number] }) {
  const { list, effects, end } = run
  const rows = <Effects list={list} />
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
