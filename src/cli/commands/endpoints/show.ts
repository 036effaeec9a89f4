import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { decideRetirement, isActive } from '../../../core/incoming/endpoint.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { call } from '../../open/operations.ts'
import { formatMoment, formatSpan } from '../../terminal/format-value.ts'
import { formatTable, indented, type Layout } from '../../terminal/table.ts'
import { describeAlgorithm } from './endpoint-view.ts'

type Endpoint = AnswerOf<'GET /endpoints/:name'>

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

/** `upshot endpoints show <name>`: one endpoint, without the values of its secrets. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the endpoint').action((name) =>
    project.withOperations(async (operations) => {
      const now = commandClock.now()
      const endpoint = await call(operations, 'GET /endpoints/:name', { params: { name } })
      const secrets = describeSecrets(endpoint, now)
      out.result(endpoint, () => formatStory(endpoint, secrets, now, out))
      for (const advice of adviseRetiring(name, secrets, now)) out.note(advice)
    }),
  )
}

function describeSecrets({ secrets }: Endpoint, now: number): SecretView[] {
  const read = (moment: string | null) => (moment === null ? null : Date.parse(moment))
  return secrets.map((secret, index) => {
    const { position, activeFrom } = secret
    const moments = { activeFrom: Date.parse(activeFrom), until: read(secret.until) }
    const isNewest = index === secrets.length - 1
    return { position, ...moments, isNewest, isActive: isActive(moments, now), lastUsedAt: read(secret.lastUsedAt) }
  })
}

function formatStory(view: Endpoint, secrets: readonly SecretView[], now: number, layout: Layout): string[] {
  const { paint } = layout
  const facts: [string, string][] = [
    ['status', paint(view.status === 'active' ? 'green' : 'yellow', view.status)],
    ['url', view.url ?? '(known while the app is running)'],
    ['account', view.account],
    ['events', view.events.join(', ')],
    ['header', view.scheme.header],
    ['algorithm', describeAlgorithm(view.scheme)],
    ['created', formatMoment(Date.parse(view.createdAt), now) ?? ''],
    ['last 24 h', formatCounts(view.deliveries24h ?? {})],
  ]
  const columns = [
    { title: 'SECRET', value: ({ position, isNewest }: SecretView) => `${position}${isNewest ? ' (newest)' : ''}` },
    { title: 'FROM', value: ({ activeFrom }: SecretView) => formatMoment(activeFrom, now) },
    { title: 'UNTIL', value: (secret: SecretView) => formatEnd(secret, now) },
    { title: 'LAST USED', value: ({ lastUsedAt }: SecretView) => formatAgo(lastUsedAt, now) },
  ]
  return [
    paint('bold', view.name),
    ...facts.map(([name, value]) => `  ${name.padEnd(9)} ${value}`),
    '',
    ...formatTable(secrets, columns, indented(layout)).map((line) => `  ${line}`),
  ]
}

function formatCounts(deliveries: NonNullable<Endpoint['deliveries24h']>): string {
  const counts = Object.entries(deliveries).map(([verdict, count]) => `${count} ${verdict}`)
  return counts.length === 0 ? 'no delivery' : counts.join(', ')
}

function formatEnd({ until, isActive: isValid }: SecretView, now: number): string {
  if (until === null) return 'retired by hand'
  return isValid ? `${formatMoment(until, now)}` : `${formatMoment(until, now)} (retired)`
}

function formatAgo(moment: number | null, now: number): string {
  return moment === null ? 'never' : `${formatSpan(moment, now)} ago`
}

const RETIREMENT = {
  safe: (name: string) => `safe to retire with "upshot endpoints rotate ${name} --retire".`,
  in_use: () => 'the service may still sign with it; check again in an hour.',
  newest_unused: () => 'but the newest was not used either. Enter the newest one at the service first.',
}

/** Advice for each older secret: whether it is safe to retire. */
function adviseRetiring(name: string, secrets: readonly SecretView[], now: number): string[] {
  const newest = secrets.find(({ isNewest }) => isNewest)
  if (newest === undefined) return []
  return secrets
    .filter((secret) => !secret.isNewest && secret.isActive)
    .map((old) => {
      const used = old.lastUsedAt === null ? 'never used' : `last used ${formatAgo(old.lastUsedAt, now)}`
      return `Old secret ${old.position} was ${used}: ${RETIREMENT[decideRetirement({ old, newest }, now)](name)}`
    })
}
