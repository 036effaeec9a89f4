import { useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Empty, LoadedPage } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { VerdictMark } from '../../parts/status.tsx'
import { Facts, Path } from '../../parts/text.tsx'
import { Moment, When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { formatDuration, shortId } from '../../words/format.ts'
import { storyOf } from '../../words/story.ts'
import { AskWorkflows } from '../workflows/event-matches.tsx'

type Event = AnswerOf<'GET /events/:id'>

/** One event: what it says, how it came, and what it started. */
export default function EventPage({ id }: { id: string }) {
  const event = useApi('GET /events/:id', { params: { id }, query: {} })
  return (
    <LoadedPage of={event} title="Event">
      {(found) => (
        <div className="stack">
          <div>
            <p className="crumbs">
              <Link href="/events">Events</Link> / <span className="mono">{shortId(id)}</span>
            </p>
            <PageHead title={found.type}>
              <Replay event={found} />
              <CopyAs cli={`upshot events show ${id}`} url={urlOf('GET /events/:id', { params: { id } })} />
            </PageHead>
            <EventFacts event={found} />
          </div>
          <section className="stack" aria-label="Runs">
            <div className="row">
              <h2>Runs</h2>
              <Link className="push" href={`/events/${encodeURIComponent(id)}/trace`}>
                Everything that came of it
              </Link>
            </div>
            {found.runs.length > 0 ? (
              <RunTable runs={found.runs} />
            ) : (
              <Empty title="It started no run.">
                <p>No workflow takes events of this type, or the endpoint's filter leaves it out.</p>
              </Empty>
            )}
          </section>
          <div className="columns">
            <section className="card padded stack" aria-label="Data">
              <h2>Data</h2>
              {found.isPruned ? (
                <p className="quiet">Retention has removed the body.</p>
              ) : (
                <JsonTree value={found.data} />
              )}
            </section>
            <Subjects subjects={found.subjects} />
            <Deliveries event={found} />
          </div>
          <AskWorkflows event={found} />
        </div>
      )}
    </LoadedPage>
  )
}

function EventFacts({ event }: { event: Event }) {
  const delay = Date.parse(event.receivedAt) - Date.parse(event.createdAt)
  return (
    <Facts
      facts={[
        ['Event', <code key="id">{event.id}</code>],
        event.subject === null ? null : ['Subject', <Path key="subject" text={event.subject} />],
        ['Account', event.account],
        ['Received', <Moment key="received" at={event.receivedAt} />],
        ['After it happened', delay < 0 ? 'before its own time' : formatDuration(delay)],
      ]}
    />
  )
}

function Subjects({ subjects }: { subjects: readonly string[] }) {
  if (subjects.length === 0) return null
  return (
    <section className="card padded stack" aria-label="Stories">
      <h2>The story of</h2>
      <ul>
        {subjects.map((subject) => (
          <li key={subject} className="wrap">
            <Link href={storyOf(subject)}>{subject}</Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Deliveries({ event }: { event: Event }) {
  return (
    <section className="card padded stack" aria-label="Deliveries">
      <h2>Deliveries</h2>
      {event.deliveries.length === 0 && <p className="quiet">None: a step of a workflow made it.</p>}
      <ul>
        {event.deliveries.map(({ id, verdict, endpoint, receivedAt }) => (
          <li className="row" key={id}>
            <VerdictMark verdict={verdict} />
            <span>{endpoint ?? 'no endpoint'}</span>
            <span className="quiet push">
              <When at={receivedAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Replay({ event }: { event: Event }) {
  const mayAct = useMay('operator')
  const [isOpen, setOpen] = useState(false)
  const replay = useAction('POST /events/:id/replay')
  if (!mayAct || event.isPruned) return null
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Replay…
      </button>
      {isOpen && (
        <Confirm
          title="Replay this event?"
          action="Start new runs"
          onClose={() => setOpen(false)}
          perform={(reason) =>
            replay.mutateAsync({
              params: { id: event.id },
              body: { account: event.account, reason },
            })
          }
        >
          <p>Each workflow that takes {event.type} gets a new run. Their effects happen again.</p>
        </Confirm>
      )}
    </>
  )
}
