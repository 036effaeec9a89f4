import { statfs } from 'node:fs/promises'
import type { AlertSetup } from '../../admin/ports/surroundings.ts'
import type { AlertRule } from '../../core/alerts/alert-rule.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { type Config, describeFaults } from '../../project/config/load-config.ts'
import { AlertWatch } from '../../watch/alerts/alert-watch.ts'
import { deliverMessage, type Sending } from '../../watch/alerts/deliver-message.ts'
import { writeMessage } from '../../watch/alerts/message.ts'
import { openShadows } from '../backtest/open-shadows.ts'

interface AlertWiring {
  store: Store
  clock: Clock
  publish: Publish
}

/** Null where the project has no rules. */
export function openAlerts(config: Config, wiring: AlertWiring): AlertWatch | null {
  const plan = config.alerts
  if (plan === undefined || plan.rules.length === 0) return null
  return new AlertWatch({
    ...wiring,
    plan,
    base: dashboardOf(config),
    readDiskUse: () => readDiskUse(config),
    openShadows: (signal) => openShadows(config, wiring.store, signal),
  })
}

/** Sends a message that says it is a test to every channel of a rule. */
export async function testAlert(
  config: Config,
  rule: AlertRule,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Sending[]> {
  if (config.alertFaults?.length) throw describeFaults(config.alertFaults)
  const { channels = {} } = config.alerts ?? {}
  const now = clock.now()
  const message = writeMessage(rule, [{ change: 'new', topic: testTopic(now) }], { base: dashboardOf(config), now })
  return deliverMessage({ channels }, rule, message, { clock, signal })
}

function testTopic(now: number) {
  const topic = { id: `test ${now}`, title: 'this is a test, nothing is wrong', page: '/', command: 'alerts list' }
  const unsaid = { sentCount: null, lastSentAt: null, endedAt: null, sendingUntil: null }
  return { ...topic, since: now, seenAt: now, count: 1, ...unsaid }
}

/** The rules as the admin API shows them: without the addresses of their channels. */
export function describeAlerts({ alerts }: Pick<Config, 'alerts'>): AlertSetup {
  const { rules = [], channels = {} } = alerts ?? {}
  const kinds = Object.fromEntries(Object.entries(channels).map(([name, { kind }]) => [name, kind]))
  return { rules, kinds }
}

/** Every message that may be sent: a rule and one of its channels. */
export function listSendings(rules: readonly AlertRule[] = []): { rule: string; channel: string }[] {
  return rules.flatMap(({ name, to }) => to.map((channel) => ({ rule: name, channel })))
}

function dashboardOf({ admin }: Pick<Config, 'admin'>): string | null {
  return admin.url === null ? null : `${admin.url}${admin.basePath}`
}

async function readDiskUse({ dataDir }: Pick<Config, 'dataDir'>): Promise<number | null> {
  return statfs(dataDir).then(
    ({ bavail, blocks }) => 1 - bavail / blocks,
    () => null,
  )
}
