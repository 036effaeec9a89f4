import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { formatCount, formatDuration } from '../../words/format.ts'

type Rule = AnswerOf<'GET /alerts'>['items'][number]
type Topic = Rule['open'][number] & { rule: string; when: string }

/** The alert rules of the project file: findings, messages and the state of their channels. */
export function Alerts() {
  const alerts = useApi('GET /alerts', {})
  const isAdmin = useMay('admin')
  return (
    <Loaded of={alerts}>
      {({ items: rules }) =>
        rules.length === 0 ? (
          <NoRule />
        ) : (
          <div className="stack">
            <Topics title="Wrong now" topics={topicsOf(rules, 'open')} columns={OPEN} empty="Nothing is wrong." />
            <Card title="Rules" isPlain beside={<CopyAs cli="upshot alerts list --past" to="GET /alerts" input={{}} />}>
              <DataTable
                label="Alert rules"
                columns={isAdmin ? [...RULES, TEST] : RULES}
                rows={rules}
                keyOf={({ name }) => name}
              />
            </Card>
            <Topics title="Past" topics={topicsOf(rules, 'past')} columns={PAST} empty="No message was sent yet." />
          </div>
        )
      }
    </Loaded>
  )
}

function topicsOf(rules: readonly Rule[], part: 'open' | 'past'): Topic[] {
  return rules
    .flatMap((rule) => rule[part].map((topic) => ({ ...topic, rule: rule.name, when: rule.when })))
    .sort((one, other) => other.since.localeCompare(one.since))
}

interface TopicsParts {
  title: string
  topics: readonly Topic[]
  columns: readonly Column<Topic>[]
  empty: string
}

function Topics({ title, topics, columns, empty }: TopicsParts) {
  return (
    <Card title={title} isPlain>
      {topics.length === 0 ? (
        <Empty title={empty} />
      ) : (
        <DataTable
          label={title}
          columns={columns}
          rows={topics}
          keyOf={({ rule, id, since }) => `${rule} ${id} ${since}`}
        />
      )}
    </Card>
  )
}

const WHAT: Column<Topic> = {
  title: 'What',
  className: 'wide',
  cell: ({ title, page, command }) => (
    <Link href={page} title={command}>
      {title}
    </Link>
  ),
}
const RULE: Column<Topic> = { title: 'Rule', width: '180px', cell: ({ rule }) => rule }
/** Their titles tell how much; their counts are no number of things. */
const MEASURED: ReadonlySet<string> = new Set(['queue.age', 'disk.low'])

const TIMES: Column<Topic> = {
  title: 'Count',
  width: '80px',
  className: 'number',
  cell: ({ when, count }) => (MEASURED.has(when) ? '–' : formatCount(count)),
}
const SINCE: Column<Topic> = { title: 'Since', width: '92px', cell: ({ since }) => <When at={since} /> }

const OPEN: readonly Column<Topic>[] = [
  WHAT,
  RULE,
  TIMES,
  SINCE,
  {
    title: 'Sent',
    width: '110px',
    cell: ({ lastSentAt }) => (lastSentAt === null ? <span className="quiet">not yet</span> : <When at={lastSentAt} />),
  },
]
const PAST: readonly Column<Topic>[] = [
  WHAT,
  RULE,
  TIMES,
  SINCE,
  { title: 'Ended', width: '110px', cell: ({ endedAt }) => <When at={endedAt} /> },
]

const RULES: readonly Column<Rule>[] = [
  { title: 'Rule', width: '22%', cell: ({ name }) => name },
  { title: 'When', width: '140px', cell: ({ when }) => <span className="mono">{when}</span> },
  {
    title: 'Workflow',
    className: 'wide',
    cell: ({ workflow }) => workflow ?? <span className="quiet">every one</span>,
  },
  { title: 'Repeats after', width: '104px', className: 'number', cell: ({ everyMs }) => formatDuration(everyMs) },
  {
    title: 'Channels',
    className: 'wide',
    cell: ({ channels }) => (
      <span className="row">
        {channels.map((channel) => (
          <Channel key={channel.name} channel={channel} />
        ))}
      </span>
    ),
  },
]

function Channel({ channel: { name, kind, sentAt, error } }: { channel: Rule['channels'][number] }) {
  const [state, glyph] = sentAt === null ? ['idle', '○'] : error === null ? ['completed', '✓'] : ['failed', '✗']
  const said = sentAt === null ? 'no message yet' : (error ?? 'took the last message')
  return (
    <span className="status" data-state={state} title={said}>
      <span aria-hidden="true">{glyph}</span>
      {name}, {kind}
      {error !== null && <span className="quiet">: {error}</span>}
    </span>
  )
}

const TEST: Column<Rule> = { title: 'Try it', width: '92px', cell: ({ name }) => <Test rule={name} /> }

function Test({ rule }: { rule: string }) {
  const toast = useToasts()
  return (
    <Act
      label="Test…"
      about={`Test ${rule}`}
      look="plain"
      title={`Test ${rule}?`}
      action="Send a test"
      to="POST /alerts/:name/test"
      given={{ params: { name: rule } }}
      then={({ channels }) => {
        const isBad = channels.some(({ error }) => error !== null)
        const results = channels.map(
          ({ channel, error }) => `${channel} ${error === null ? 'took it' : `did not: ${error}`}`,
        )
        toast(`${results.join(' · ')}.`, isBad)
      }}
    >
      <p>Each channel of the rule gets a message that says it is a test.</p>
    </Act>
  )
}

function NoRule() {
  return (
    <Empty title="The project has no alert rules.">
      <p>A rule in the project file tells a webhook, Slack or mailbox what is wrong:</p>
      <code>{"{ when: 'run.failed', to: ['team'] }"}</code>
    </Empty>
  )
}
