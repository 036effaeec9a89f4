import { useState } from 'react'
import { Link } from 'wouter'
import { urlOf } from '../../api/client.ts'
import { useApi, useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { LoadedPage, ProblemNote } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Look } from '../../parts/status.tsx'
import { Facts } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import {
  type Approval,
  type ApprovalItem,
  describeVotes,
  lookOfApproval,
  nounOf,
  sourceOf,
} from '../../words/approvals.ts'
import { countOf, formatBytes, formatCount } from '../../words/format.ts'
import { ApprovalItems } from './approval-items.tsx'
import { DecideBar } from './decide-bar.tsx'
import { LookAhead } from './look-ahead.tsx'

/** Items of one page of the list. */
const PAGE = 1_000

/** One approval: what would happen, in the state in which its runs saw it, and the decision. */
export default function ApprovalPage({ id }: { id: string }) {
  const approval = useApi('GET /approvals/:id', { params: { id } })
  return (
    <LoadedPage of={approval} title="Approval">
      {(found) => (
        <div className="stack">
          <Top approval={found} />
          <ApprovalFacts approval={found} />
          <Votes approval={found} />
          {found.question && <Question question={found.question} />}
          <Body approval={found} />
          <LookAhead key={found.hash} approval={found} />
        </div>
      )}
    </LoadedPage>
  )
}

function Top({ approval: { id, kind, why, workflow, status } }: { approval: Approval }) {
  return (
    <div>
      <p className="crumbs">
        <Link href="/approvals">Approvals</Link>
        {kind !== 'repair' && (
          <>
            {' '}
            / <Link href={`/workflows/${encodeURIComponent(workflow)}`}>{workflow}</Link>
          </>
        )}
      </p>
      <PageHead title={sourceOf({ kind, workflow })} beside={<Look look={lookOfApproval(status)} />}>
        <CopyAs cli={`upshot approvals show ${id}`} url={urlOf('GET /approvals/:id', { params: { id } })} />
      </PageHead>
      <p className="card padded wrap">{kind === 'guard' ? `It is ${why}.` : why}</p>
    </div>
  )
}

function ApprovalFacts({ approval }: { approval: Approval }) {
  const { id, kind, status, openItems, items, bytes, runs, account, openedAt, expiresAt, decidedAt, role } = approval
  return (
    <Facts
      facts={[
        ['Approval', <code key="id">{id}</code>],
        kind === 'question'
          ? null
          : [kind === 'repair' ? 'Events' : 'Effects', `${formatCount(openItems)} open of ${formatCount(items)}`],
        kind === 'guard' ? ['Size', formatBytes(bytes)] : null,
        kind === 'repair' ? null : ['Runs', formatCount(runs)],
        ['Account', account],
        ['People', `${describeVotes(approval)}${role === null ? '' : `, with the role ${role}`}`],
        ['Asked', <When key="asked" at={openedAt} />],
        status === 'open'
          ? ['Expires', <When key="expires" at={expiresAt} />]
          : ['Decided', <When key="decided" at={decidedAt} />],
        ['Hash', <code key="hash">{approval.hash.slice(0, 8)}</code>],
      ]}
    />
  )
}

function Votes({ approval: { votes } }: { approval: Approval }) {
  if (votes.length === 0) return null
  return (
    <ul className="card padded stack" aria-label="Votes">
      {votes.map(({ actor, verdict, reason, at, isSigned }) => (
        <li key={actor} className="wrap">
          <span className="status" data-state={verdict === 'approved' ? 'completed' : 'failed'}>
            {verdict === 'approved' ? '✓' : '✗'} {actor}
          </span>{' '}
          {verdict} it <When at={at} />
          {isSigned && ', signed'}
          {reason && `: ${reason}`}
        </li>
      ))}
    </ul>
  )
}

function Question({ question: { show, runId, step } }: { question: NonNullable<Approval['question']> }) {
  return (
    <section className="card padded stack" aria-label="What the run shows">
      <p className="quiet">
        Step <code>{step}</code> of <Link href={`/runs/${runId}`}>its run</Link> waits for the answer.
      </p>
      {show !== null && <JsonTree value={show} />}
    </section>
  )
}

function Body({ approval }: { approval: Approval }) {
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set())
  const isOpen = approval.status === 'open'
  // Its answer is for all of its files or for none.
  const isQuestion = approval.kind === 'question'
  const list = useList('GET /approvals/:id/items', { params: { id: approval.id }, query: { limit: PAGE } })
  const mayAct = useMay('operator') && isOpen
  const items: readonly ApprovalItem[] = list.data?.pages.flatMap((page) => page.items) ?? []
  const rest = approval.items - items.length
  const toggle = (number: number) => {
    const next = new Set(left)
    if (!next.delete(number)) next.add(number)
    setLeft(next)
  }
  return (
    <>
      {list.error && <ProblemNote error={list.error} />}
      {mayAct && (isQuestion || items.length > 0) && <DecideBar approval={approval} items={items} left={left} />}
      {(!isQuestion || items.length > 0) && (
        <ApprovalItems
          kind={approval.kind}
          items={items}
          isPending={list.isPending}
          {...(mayAct && !isQuestion ? { left, toggle } : {})}
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
    </>
  )
}
