import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import { EventLink, hrefOfEvent, Path, RunLink, Status } from '../../parts/text.tsx'
import { useNow, When } from '../../parts/when.tsx'
import { countOf, formatDuration, shortId } from '../../words/format.ts'
import { tookMs, whyOf } from '../../words/runs.ts'
import { useEventInput } from './use-event-input.ts'

type Node = AnswerOf<'GET /events/:id/trace'>['nodes'][number]

/** Everything that goes back to an event, as a tree: runs, runs that they invoked, events that they sent. */
export default function TracePage({ id }: { id: string }) {
  const { input, cli } = useEventInput(id)
  const trace = useApi('GET /events/:id/trace', input)
  return (
    <div className="stack">
      <PageHead
        title={trace.data?.nodes[0]?.event?.type ?? 'Trace'}
        above={[
          ['/events', 'Events'],
          [hrefOfEvent({ id, ...input.query }), shortId(id)],
        ]}
      >
        <CopyAs cli={`${cli} --trace`} to="GET /events/:id/trace" input={input} />
      </PageHead>
      <Loaded of={trace}>
        {({ nodes, isComplete }) => {
          const runs = nodes.filter(({ run }) => run !== null).length
          const below = Map.groupBy(nodes.slice(1), ({ parent }) => parent ?? '')
          return (
            <>
              <ul className="card padded trace">{nodes[0] && <Branch node={nodes[0]} below={below} />}</ul>
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

function Branch({ node, below }: { node: Node; below: ReadonlyMap<string, readonly Node[]> }) {
  const { id, event, run, cause, step, isCut } = node
  const children = below.get(id) ?? []
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
            <Branch key={child.id} node={child} below={below} />
          ))}
          {isCut && (
            <li>
              <Link href={run ? `/runs/${id}` : `/runs?q=${encodeURIComponent(`event:${id}`)}`}>… and more</Link>
            </li>
          )}
        </ul>
      )}
    </li>
  )
}

function EventLine({ event }: { event: NonNullable<Node['event']> }) {
  return (
    <>
      <EventLink event={event} />
      <span className="quiet about">
        <Path text={event.subject} />
      </span>
      <span className="quiet push small">
        <When at={event.receivedAt} />
      </span>
    </>
  )
}

function RunLine({ run }: { run: NonNullable<Node['run']> }) {
  const took = tookMs(run, useNow())
  return (
    <>
      <Status of={run} />
      <RunLink run={run} />
      <span className="quiet about" title={whyOf(run)}>
        {whyOf(run)}
      </span>
      <span className="quiet push small">{took === null ? 'not begun' : formatDuration(took)}</span>
    </>
  )
}
