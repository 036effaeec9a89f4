import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import { hrefOfEvent, RunLink, Status } from '../../parts/text.tsx'
import { Moment } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { commandOf, shellWord } from '../../words/format.ts'

type History = AnswerOf<'GET /subjects/:subject'>
type Item = History['items'][number]
type Effect = History['effects'][number]

/** Everything that touched a file, a path or a transfer, on one line of time. */
export default function SubjectPage() {
  const subject = useFilters().read('of')
  if (subject === '') {
    return (
      <div className="stack">
        <PageHead title="History" above={[['/events', 'Events']]} isStill />
        <NoHistory title="No file, path or transfer is named." />
      </div>
    )
  }
  // Its own, so that one subject never shows what was found of another.
  return <Found key={subject} subject={subject} />
}

function Found({ subject }: { subject: string }) {
  const params = { subject }
  const found = useList('GET /subjects/:subject', { params, query: {} })
  const effects = found.data?.pages[0]?.effects ?? []
  const command = subject.startsWith('/')
    ? commandOf('upshot events list', { path: subject }, ['path'])
    : `upshot effects of ${shellWord(subject)}`
  return (
    <div className="stack">
      <PageHead title={subject} above={[['/events', 'Events']]}>
        <CopyAs cli={command} to="GET /subjects/:subject" input={{ params }} />
      </PageHead>
      <List of={found} empty={effects.length === 0 ? <NoHistory /> : <TimeLine items={[]} effects={effects} />}>
        {(items) => <TimeLine items={items} effects={effects} />}
      </List>
    </div>
  )
}

/** Events and effects together, newest first. */
function TimeLine({ items, effects }: { items: readonly Item[]; effects: readonly Effect[] }) {
  const entries = [
    ...items.map((item) => ({ at: item.event.receivedAt, key: item.event.id, item })),
    ...effects.map((effect) => ({ at: effect.at, key: String(effect.seq), effect })),
  ].sort((one, other) => other.at.localeCompare(one.at))
  return (
    <ol className="card pairs history">
      {entries.map((entry) => (
        <li key={entry.key}>
          <span className="quiet small">
            <Moment at={entry.at} />
          </span>
          {'item' in entry ? <EventEntry item={entry.item} /> : <EffectEntry effect={entry.effect} />}
        </li>
      ))}
    </ol>
  )
}

function EventEntry({ item: { event, runs } }: { item: Item }) {
  return (
    <div className="stack tight">
      <div className="row">
        <Link href={hrefOfEvent(event)}>{event.type}</Link>
        <span className="quiet wrap">{event.subject}</span>
      </div>
      <ul>
        {runs.map((run) => (
          <li className="row" key={run.id}>
            <Status of={run} />
            <RunLink run={run} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function EffectEntry({ effect: { operation, phase, outcome, actor, runId, workflow, ...rest } }: { effect: Effect }) {
  return (
    <div className="row">
      <span className={`tag ${rest.class}`}>{rest.class}</span>
      <span>
        {operation} {phase}
        {outcome !== null && `: ${outcome.replaceAll('_', ' ')}`}
      </span>
      <span className="quiet">by</span> {runId === null ? actor : <RunLink run={{ id: runId, workflow }} />}
      {rest.approval !== null && <Link href={`/approvals/${rest.approval}`}>approval</Link>}
    </div>
  )
}

function NoHistory({ title = 'No event or effect names it.' }: { title?: string }) {
  return (
    <Empty title={title}>
      <p>Ask for a path such as storage_a:/in/a.pdf, or for the id of a file or transfer.</p>
    </Empty>
  )
}
