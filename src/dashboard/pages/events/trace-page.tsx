import { Link } from 'wouter'
import { urlOf } from '../../api/client.ts'
import { useApi } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Status } from '../../parts/status.tsx'
import { Path, RunLink } from '../../parts/text.tsx'
import { useNow, When } from '../../parts/when.tsx'
import { countOf, formatDuration, shortId } from '../../words/format.ts'
import { tookMs, whyOf } from '../../words/runs.ts'
import { growTree, type TraceTree } from './trace-tree.ts'

/** Everything that goes back to an event, as a tree: runs, runs that they invoked, events that they sent. */
export default function TracePage({ id }: { id: string }) {
  const trace = useApi('GET /events/:id/trace', { params: { id }, query: {} })
  return (
    <div className="stack">
      <div>
        <p className="crumbs">
          <Link href="/events">Events</Link> /{' '}
          <Link href={`/events/${encodeURIComponent(id)}`}>
            <span className="mono">{shortId(id)}</span>
          </Link>{' '}
          / what came of it
        </p>
        <PageHead title={trace.data?.nodes[0]?.event?.type ?? 'Trace'}>
          <CopyAs cli={`upshot events show ${id} --trace`} url={urlOf('GET /events/:id/trace', { params: { id } })} />
        </PageHead>
      </div>
      <Loaded of={trace}>
        {({ nodes, isComplete }) => {
          const root = growTree(nodes)
          const runs = nodes.filter(({ run }) => run !== null).length
          return (
            <>
              <ul className="card padded trace">{root && <Branch tree={root} />}</ul>
              <p className="foot">
                {countOf(runs, 'run')} and {countOf(nodes.length - runs, 'event')} shown
                {isComplete ? ', and that is all.' : '; at a mark there is more, nearest to the event first.'}
              </p>
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

function Branch({ tree: { node, children } }: { tree: TraceTree }) {
  const { event, run, cause, step, isCut } = node
  return (
    <li>
      <div className="row">
        {cause !== null && (
          <span className="quiet small">
            {cause}
            {step !== null && (
              <>
                {' by '}
                <code>{step}</code>
              </>
            )}
          </span>
        )}
        {event && <EventLine event={event} />}
        {run && <RunLine run={run} />}
      </div>
      {(children.length > 0 || isCut) && (
        <ul>
          {children.map((child) => (
            <Branch key={child.node.id} tree={child} />
          ))}
          {isCut && <More node={node} />}
        </ul>
      )}
    </li>
  )
}

type Node = TraceTree['node']

function EventLine({ event: { id, type, subject, receivedAt } }: { event: NonNullable<Node['event']> }) {
  return (
    <>
      <Link href={`/events/${encodeURIComponent(id)}`}>
        {type} <span className="mono quiet">{shortId(id)}</span>
      </Link>
      <span className="quiet about">
        <Path text={subject} />
      </span>
      <span className="quiet push small">
        <When at={receivedAt} />
      </span>
    </>
  )
}

function RunLine({ run }: { run: NonNullable<Node['run']> }) {
  const took = tookMs(run, useNow())
  return (
    <>
      <Status status={run.status} needsPerson={run.needsPerson} />
      <RunLink run={run} />
      <span className="quiet about" title={whyOf(run)}>
        {whyOf(run)}
      </span>
      <span className="quiet push small">{took === null ? 'not begun' : formatDuration(took)}</span>
    </>
  )
}

function More({ node: { id, run } }: { node: Node }) {
  const href = run ? `/runs/${id}` : `/runs?q=${encodeURIComponent(`event:${id}`)}`
  return (
    <li>
      <Link href={href}>… and more</Link>
    </li>
  )
}
