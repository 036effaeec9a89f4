import type { Command } from '@commander-js/extra-typings'
import type { Verdict } from '../../../core/incoming/delivery.ts'
import {
  decideRetirement,
  type Endpoint,
  type EndpointSecret,
  isActive,
  type SecretUse,
} from '../../../core/incoming/endpoint.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findEndpoint } from '../../open/find-endpoint.ts'
import { findAddress } from '../../open/running-app.ts'
import { formatMoment, formatSpan, withIsoTimes } from '../../terminal/format-value.ts'
import { formatTable, indented, type Layout } from '../../terminal/table.ts'
import { describeEndpoint, type EndpointView } from './endpoint-view.ts'

const DAY_MS = 86_400_000

/** A secret without its value. */
interface SecretView extends SecretUse {
  isNewest: boolean
  isActive: boolean
  activeFrom: number
  /** Null while no end is set. */
  until: number | null
}

/** An endpoint with the use of its secrets. */
interface EndpointStory {
  view: EndpointView
  secrets: SecretView[]
  /** Number of requests in the last 24 hours, by verdict. */
  deliveries: Partial<Record<Verdict, number>>
}

/** `upshot endpoints show <name>`: one endpoint, without the values of its secrets. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the endpoint').action((name) =>
    project.withStore(async (store, config) => {
      const now = commandClock.now()
      const endpoint = await findEndpoint(store, name)
      const story: EndpointStory = {
        view: describeEndpoint(endpoint, await findAddress(config)),
        secrets: describeSecrets(endpoint, await store.listSecretUses(endpoint.id), now),
        deliveries: await store.countDeliveries(endpoint.id, now - DAY_MS),
      }
      const { view, secrets, deliveries } = story
      out.result({ ...view, secrets: secrets.map(describeSecret), deliveries24h: deliveries }, () =>
        formatStory(story, now, out),
      )
      for (const advice of adviseRetiring(name, secrets, now)) out.note(advice)
    }),
  )
}

function describeSecrets({ secrets }: Endpoint, uses: readonly SecretUse[], now: number): SecretView[] {
  const usedAt = new Map(uses.map(({ position, lastUsedAt }) => [position, lastUsedAt]))
  return secrets.map((secret, index) =>
    describeUse(secret, usedAt.get(secret.position) ?? null, { now, isNewest: index === secrets.length - 1 }),
  )
}

function describeUse(
  secret: EndpointSecret,
  lastUsedAt: number | null,
  { now, isNewest }: { now: number; isNewest: boolean },
): SecretView {
  const { position, activeFrom, until } = secret
  return { position, isNewest, isActive: isActive(secret, now), activeFrom, until, lastUsedAt }
}

function describeSecret({ activeFrom, until, ...secret }: SecretView): Record<string, unknown> {
  const isoUntil = until === null ? null : new Date(until).toISOString()
  return { ...withIsoTimes(secret), activeFrom: new Date(activeFrom).toISOString(), until: isoUntil }
}

function formatStory({ view, secrets, deliveries }: EndpointStory, now: number, layout: Layout): string[] {
  const { paint } = layout
  const facts: [string, string][] = [
    ['status', paint(view.status === 'active' ? 'green' : 'yellow', view.status)],
    ['url', view.url ?? '(known while the app is running)'],
    ['account', view.account],
    ['events', view.events.join(', ')],
    ['header', view.header],
    ['algorithm', view.algorithm],
    ['created', formatMoment(Date.parse(view.createdAt), now) ?? ''],
    ['last 24 h', formatCounts(deliveries)],
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

function formatCounts(deliveries: EndpointStory['deliveries']): string {
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
