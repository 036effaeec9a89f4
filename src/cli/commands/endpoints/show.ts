import { decideRetirement, isActive } from '../../../core/incoming/endpoint.ts'
import { commandClock } from '../../command-clock.ts'
import { actCommand } from '../../operate/act-command.ts'
import { formatMoment, formatSpan } from '../../terminal/format-value.ts'
import { type Column, formatFacts, formatTable, indented, type Layout } from '../../terminal/table.ts'
import { describeAlgorithm, type Endpoint } from './endpoint-view.ts'

/** A secret without its value. */
interface SecretView {
  position: number
  isNewest: boolean
  isActive: boolean
  activeFrom: number
  /** Null while no end is set. */
  until: number | null
  lastUsedAt: number | null
}

export const define = actCommand('GET /endpoints/:name', {
  argument: ['name', 'name of the endpoint'],
  done: (endpoint, _, { out }) => formatDetails(endpoint, out),
  note: (endpoint, name) => adviseRetiring(name, describeSecrets(endpoint)),
})

function describeSecrets({ secrets }: Endpoint): SecretView[] {
  const read = (moment: string | null) => (moment === null ? null : Date.parse(moment))
  return secrets.map((secret, index) => {
    const { position, activeFrom } = secret
    const moments = { activeFrom: Date.parse(activeFrom), until: read(secret.until) }
    const isNewest = index === secrets.length - 1
    return {
      position,
      ...moments,
      isNewest,
      isActive: isActive(moments, commandClock.now()),
      lastUsedAt: read(secret.lastUsedAt),
    }
  })
}

function formatDetails(view: Endpoint, layout: Layout): string[] {
  const { paint } = layout
  const secrets = describeSecrets(view)
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
    ...formatTable(secrets, COLUMNS, indented(layout)).map((line) => `  ${line}`),
  ]
}

const COLUMNS: Column<SecretView>[] = [
  { title: 'SECRET', value: ({ position, isNewest }) => `${position}${isNewest ? ' (newest)' : ''}` },
  { title: 'FROM', value: ({ activeFrom }) => formatMoment(activeFrom) },
  { title: 'UNTIL', value: formatEnd },
  { title: 'LAST USED', value: ({ lastUsedAt }) => formatAgo(lastUsedAt) },
]

function formatCounts(deliveries: NonNullable<Endpoint['deliveries24h']>): string {
  const counts = Object.entries(deliveries).map(([verdict, count]) => `${count} ${verdict}`)
  return counts.length === 0 ? 'no delivery' : counts.join(', ')
}

function formatEnd({ until, isActive: isValid }: SecretView): string {
  if (until === null) return 'retired by hand'
  return isValid ? `${formatMoment(until)}` : `${formatMoment(until)} (retired)`
}

function formatAgo(moment: number | null): string {
  return moment === null ? 'never' : `${formatSpan(moment, commandClock.now())} ago`
}

const RETIREMENT = {
  safe: (name: string) => `safe to retire with "upshot endpoints rotate ${name} --retire".`,
  in_use: () => 'the service may still sign with it; check again in an hour.',
  newest_unused: () => 'but the newest was not used either. Enter the newest one at the service first.',
}

/** Advice for each older secret: whether it is safe to retire. */
function adviseRetiring(name: string, secrets: readonly SecretView[]): string | null {
  const newest = secrets.find(({ isNewest }) => isNewest)
  if (newest === undefined) return null
  const advice = secrets
    .filter((secret) => !secret.isNewest && secret.isActive)
    .map((old) => {
      const used = old.lastUsedAt === null ? 'never used' : `last used ${formatAgo(old.lastUsedAt)}`
      const verdict = decideRetirement({ old, newest }, commandClock.now())
      return `Old secret ${old.position} was ${used}: ${RETIREMENT[verdict](name)}`
    })
  return advice.length === 0 ? null : advice.join('\n')
}
