import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Empty } from '../../parts/messages.tsx'
import { Card, DetailPage } from '../../parts/page.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { type Fact, historyOf, hrefOfEvent, Look } from '../../parts/text.tsx'
import { Moment, When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { formatDuration } from '../../words/format.ts'
import { lookOfVerdict } from '../../words/states.ts'
import { EventBody } from '../run/data-card.tsx'
import { AskWorkflows } from '../workflows/event-matches.tsx'
import { useEventInput } from './use-event-input.ts'

type Event = AnswerOf<'GET /events/:id'>

/** One event: what it says, how it came, and what it started. */
export default function EventPage({ id }: { id: string }) {
  const { input, cli } = useEventInput(id)
  const event = useApi('GET /events/:id', input)
  return (
    <DetailPage
      of={event}
      title="Event"
      above={[['/events', 'Events']]}
      head={(found) => ({
        title: found.type,
        facts: factsOf(found),
        children: (
          <>
            <Replay event={found} />
            <CopyAs cli={cli} to="GET /events/:id" input={input} />
          </>
        ),
      })}
    >
      {(found) => (
        <>
          <Card
            title="Runs"
            isPlain
            beside={<Link href={hrefOfEvent(found, '/trace')}>Everything that came of it</Link>}
          >
            {found.runs.length > 0 ? (
              <RunTable runs={[...found.runs, ...found.absorbers]} />
            ) : (
              <Empty title="It started no run.">
                <p>No workflow takes events of this type, or the endpoint's filter leaves it out.</p>
              </Empty>
            )}
          </Card>
          <div className="columns">
            <Card title="Data">
              <EventBody event={found} />
            </Card>
            {found.subjects.length > 0 && (
              <Card title="The history of" label="Histories">
                <ul>
                  {found.subjects.map((subject) => (
                    <li key={subject} className="wrap">
                      <Link href={historyOf(subject)}>{subject}</Link>
                    </li>
                  ))}
                </ul>
              </Card>
            )}
            <Card title="Deliveries">
              {found.deliveries.length === 0 && <p className="quiet">None: a step of a workflow made it.</p>}
              <ul>
                {found.deliveries.map(({ id: delivery, verdict, endpoint, receivedAt }) => (
                  <li className="row" key={delivery}>
                    <Look look={lookOfVerdict(verdict)} />
                    <span>{endpoint ?? 'no endpoint'}</span>
                    <span className="quiet push">
                      <When at={receivedAt} />
                    </span>
                  </li>
                ))}
              </ul>
            </Card>
          </div>
          <AskWorkflows event={found} />
        </>
      )}
    </DetailPage>
  )
}

function factsOf({ id, subject, account, receivedAt, createdAt }: Event): Fact[] {
  const delay = Date.parse(receivedAt) - Date.parse(createdAt)
  return [
    ['Event', <code key="id">{id}</code>],
    subject !== null && ['Subject', subject],
    ['Account', account],
    ['Received', <Moment key="received" at={receivedAt} />],
    ['Delay', delay < 0 ? 'none: it came before its own time' : formatDuration(delay)],
  ]
}

function Replay({ event: { id, type, account, isPruned } }: { event: Event }) {
  const mayAct = useMay('operator')
  if (!mayAct || isPruned) return null
  return (
    <Act
      label="Replay…"
      title="Replay this event?"
      action="Start new runs"
      to="POST /events/:id/replay"
      given={{ params: { id }, body: { account } }}
    >
      <p>Each workflow that takes {type} gets a new run. Their effects happen again.</p>
    </Act>
  )
}
