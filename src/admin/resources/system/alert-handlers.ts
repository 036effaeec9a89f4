import { type AlertBook, EMPTY_BOOK, type OpenTopic, type PastTopic } from '../../../core/alerts/alert-book.ts'
import type { AlertRule } from '../../../core/alerts/alert-rule.ts'
import { UpshotError } from '../../../core/errors.ts'
import { isoTime, momentOf, withIsoTimes } from '../../../core/time.ts'
import type { ALERT_ROUTES } from '../../contract/resources/system/alerts.ts'
import type { Handlers } from '../../perform/handler.ts'
import type { AlertSetup } from '../../ports/surroundings.ts'
import type { ResourceParts } from '../parts.ts'

/** The alert rules of the project file, and test messages to their channels. */
export function alertHandlers({ store, surroundings }: ResourceParts): Handlers<keyof typeof ALERT_ROUTES> {
  const setup = surroundings.alerts()
  const describe = async (rule: AlertRule) => {
    const kept = await store.loadAlertBook(rule.name)
    return describeRule(rule, kept?.book ?? EMPTY_BOOK, setup)
  }
  const requireRule = (name: string): AlertRule => {
    const rule = setup.rules.find((each) => each.name === name)
    if (rule) return rule
    const known = setup.rules.map((each) => each.name).join(', ')
    throw new UpshotError('not_found', `The project has no alert rule "${name}".`, {
      fix: known === '' ? 'Add one to the project file.' : `Choose one of: ${known}.`,
    })
  }
  return {
    'GET /alerts': async () => ({ items: await Promise.all(setup.rules.map(describe)) }),
    'GET /alerts/:name': ({ params }) => describe(requireRule(params.name)),
    async 'POST /alerts/:name/test'({ params, record, signal }) {
      const rule = requireRule(params.name)
      await record(rule.name)
      return { channels: await surroundings.testAlert(rule, signal) }
    },
  }
}

function describeRule({ to, ...rule }: AlertRule, { topics, past, channels }: AlertBook, { kinds }: AlertSetup) {
  return {
    ...rule,
    channels: to.map((name) => {
      const state = channels.find(({ channel }) => channel === name)
      return { name, kind: kinds[name] ?? 'webhook', sentAt: momentOf(state?.at ?? null), error: state?.error ?? null }
    }),
    open: topics.map((topic) => describeTopic(topic)),
    past: past.map((topic) => describeTopic(topic)),
  }
}

function describeTopic({ id, title, page, command, count, since, lastSentAt, endedAt }: OpenTopic | PastTopic) {
  const facts = withIsoTimes({ id, title, page, count, lastSentAt, endedAt })
  return { ...facts, command: `upshot ${command}`, since: isoTime(since) }
}
