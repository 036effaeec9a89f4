import { useState } from 'react'
import { Link } from 'wouter'
import { useApi, useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { ProblemNote } from '../../parts/messages.tsx'
import { Card, DetailPage } from '../../parts/page.tsx'
import { type Fact, hrefOfWorkflow, Look } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { type Approval, describeVotes, nounOf, sourceOf } from '../../words/approvals.ts'
import { countOf, formatBytes, formatCount, toggled } from '../../words/format.ts'
import { lookOfApproval } from '../../words/states.ts'
import { ApprovalItems } from './approval-items.tsx'
import { DecideBar } from './decide-bar.tsx'
import { LookAhead } from './look-ahead.tsx'

/** Items of one page of the list. */
const PAGE = 1_000

/** One approval: what would happen, in the state in which its runs saw it, and the decision. */
export default function ApprovalPage({ id }: { id: string }) {
  const input = { params: { id } }
  const approval = useApi('GET /approvals/:id', input)
  return (
    <DetailPage
      of={approval}
      title="Approval"
      head={(found) => ({
        title: sourceOf(found),
        above: [
          ['/approvals', 'Approvals'],
          ...(found.kind === 'repair' ? [] : [[hrefOfWorkflow(found.workflow), found.workflow] as const]),
        ],
        beside: <Look look={lookOfApproval(found.status)} />,
        children: <CopyAs cli={`upshot approvals show ${id}`} to="GET /approvals/:id" input={input} />,
        facts: factsOf(found),
      })}
    >
      {(found) => (
        <>
          <p className="card padded wrap">{found.kind === 'guard' ? `The guard holds it: ${found.why}.` : found.why}</p>
          <Votes approval={found} />
          {found.question && <Question question={found.question} />}
          <Body approval={found} />
        </>
      )}
    </DetailPage>
  )
}

function factsOf(approval: Approval): Fact[] {
  const { id, kind, status, openItems, items, bytes, runs, account, openedAt, expiresAt, decidedAt, role } = approval
  const counts = `${formatCount(openItems)} open of ${formatCount(items)}`
  return [
    ['Approval', <code key="id">{id}</code>],
    kind !== 'question' && [kind === 'repair' ? 'Events' : 'Effects', counts],
    kind === 'guard' && ['Size', formatBytes(bytes)],
    kind !== 'repair' && ['Runs', formatCount(runs)],
    ['Account', account],
    ['People', `${describeVotes(approval)}${role === null ? '' : `, with the role ${role}`}`],
    ['Asked', <When key="asked" at={openedAt} />],
    status === 'open'
      ? ['Expires', <When key="expires" at={expiresAt} />]
      : ['Decided', <When key="decided" at={decidedAt} />],
    ['Hash', <code key="hash">{approval.hash.slice(0, 8)}</code>],
  ]
}

function Votes({ approval: { votes } }: { approval: Approval }) {
  if (votes.length === 0) return null
  return (
    <ul className="card padded stack" aria-label="Votes">
      {votes.map(({ actor, verdict, reason, at, isSigned }) => (
        <li key={actor} className="wrap">
          <Look look={lookOfApproval(verdict, actor)} /> {verdict} it <When at={at} />
          {isSigned && ', signed'}
          {reason && `: ${reason}`}
        </li>
      ))}
    </ul>
  )
}

function Question({ question: { show, runId, step } }: { question: NonNullable<Approval['question']> }) {
  return (
    <Card title="What the run shows">
      <p className="quiet">
        Step <code>{step}</code> of <Link href={`/runs/${runId}`}>its run</Link> waits for the answer.
      </p>
      {show !== null && <JsonTree value={show} />}
    </Card>
  )
}

function Body({ approval }: { approval: Approval }) {
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set())
  // Its answer is for all of its files or for none.
  const isQuestion = approval.kind === 'question'
  const list = useList('GET /approvals/:id/items', { params: { id: approval.id }, query: { limit: PAGE } })
  const mayAct = useMay('operator')
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  const rest = approval.items - items.length
  const toggle = (number: number) => setLeft(toggled(left, number))
  return (
    <>
      {list.error && <ProblemNote error={list.error} />}
      {mayAct && <DecideBar approval={approval} items={items} left={left} />}
      {(!isQuestion || items.length > 0) && (
        <ApprovalItems
          approval={approval}
          items={items}
          isPending={list.isPending}
          {...(mayAct && approval.status === 'open' && !isQuestion && { left, toggle })}
        />
      )}
      {list.hasNextPage && (
        <div className="foot">
          <span>
            {countOf(rest, nounOf(approval.kind))} further down are not shown yet, and an approval here leaves them out.
          </span>
          <button type="button" disabled={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            Show {formatCount(Math.min(rest, PAGE))} more
          </button>
        </div>
      )}
      <LookAhead approval={approval} isWhole={rest === 0 && left.size === 0} />
    </>
  )
}
