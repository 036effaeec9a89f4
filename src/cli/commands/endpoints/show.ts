import { decideRetirement } from '../../../core/incoming/endpoint.ts'
import { commandClock } from '../../command-clock.ts'
import { actCommand } from '../../operate/act-command.ts'
import { formatMoment, formatSpan } from '../../terminal/format-value.ts'
import { type Column, formatFacts, formatTable, indented, type Layout } from '../../terminal/table.ts'
import { describeAlgorithm, type Endpoint, isAccepted, type Secret } from './endpoint-view.ts'

export const define = actCommand('GET /endpoints/:name', {
  argument: ['name', 'name of the endpoint'],
  done: (endpoint, _, { out }) => formatDetails(endpoint, out),
  note: ({ secrets }, name) => adviseRetiring(name, secrets),
})

function formatDetails(view: Endpoint, layout: Layout): string[] {
  const { paint } = layout
  const facts = formatFacts([
    ['status', paint(view.status === 'active' ? 'green' : 'yellow', view.status)],
    ['url', view.url ?? '(known while the app is running)'],
    ['account', view.account],
    ['events', view.events.join(', ')],
    ['header', view.scheme.header],
    ['algorithm', describeAlgorithm(view.scheme)],
    ['created', formatMoment(view.createdAt)],
    ['last 24 h', formatCounts(view.deliveries24h ?? {})],
  ])
  return [
    paint('bold', view.name),
    ...facts,
    '',
    ...formatTable(view.secrets, columns(view.secrets.at(-1)), indented(layout)).map((line) => `  ${line}`),
  ]
}

function columns(newest: Secret | undefined): Column<Secret>[] {
  return [
    { title: 'SECRET', value: (secret) => `${secret.position}${secret === newest ? ' (newest)' : ''}` },
    { title: 'FROM', value: ({ activeFrom }) => formatMoment(activeFrom) },
    { title: 'UNTIL', value: formatEnd },
    { title: 'LAST USED', value: ({ lastUsedAt }) => formatAgo(lastUsedAt) },
  ]
}

function formatCounts(deliveries: NonNullable<Endpoint['deliveries24h']>): string {
  const counts = Object.entries(deliveries).map(([verdict, count]) => `${count} ${verdict}`)
  return counts.length === 0 ? 'no delivery' : counts.join(', ')
}

function formatEnd(secret: Secret): string {
  if (secret.until === null) return 'you retire it'
  return `${formatMoment(secret.until)}${isAccepted(secret) ? '' : ' (retired)'}`
}

function formatAgo(moment: string | null): string {
  return moment === null ? 'never' : `${formatSpan(moment, commandClock.now())} ago`
}

const RETIREMENT = {
  safe: (name: string) => `safe to retire with "upshot endpoints rotate ${name} --retire".`,
  in_use: () => 'the service may still sign with it; check again in an hour.',
  newest_unused: () => 'but the newest was not used either. Enter the newest one at the service first.',
}

/** Advice for each older secret: whether it is safe to retire. */
function adviseRetiring(name: string, secrets: readonly Secret[]): string | null {
  const newest = secrets.at(-1)
  if (newest === undefined) return null
  const useOf = ({ lastUsedAt: at }: Secret) => ({ lastUsedAt: at === null ? null : Date.parse(at) })
  const advice = secrets
    .filter((secret) => secret !== newest && isAccepted(secret))
    .map((old) => {
      const used = old.lastUsedAt === null ? 'never used' : `last used ${formatAgo(old.lastUsedAt)}`
      const verdict = decideRetirement({ old: useOf(old), newest: useOf(newest) }, commandClock.now())
      return `Old secret ${old.position} was ${used}: ${RETIREMENT[verdict](name)}`
    })
  return advice.length === 0 ? null : advice.join('\n')
}
