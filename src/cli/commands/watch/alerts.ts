import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { MEASURED_ALERTS } from '../../../core/alerts/alert-rule.ts'
import { actCommand } from '../../operate/act-command.ts'
import { formatMoment, formatText } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'

type Rule = AnswerOf<'GET /alerts'>['items'][number]

export const list = actCommand('GET /alerts', {
  options: (command) => command.option('--past', 'print what is over, too'),
  data: ({ items }) => items,
  done: ({ items }, _, { out, options }) => [
    ...formatTable(items, ALERT_COLUMNS, out),
    ...items.flatMap((rule) => describeRule(rule, options.past === true)),
  ],
  note: ({ items }) => (items.length === 0 ? 'The project file has no rules. See docs/operating.md, Alerts.' : null),
})

/** `upshot alerts test`: leaves with 6 where a channel does not take the message. */
export const test = actCommand('POST /alerts/:name/test', {
  argument: ['name', 'name of a rule of the project file'],
  look: 'GET /alerts/:name',
  isSlow: 'Sending',
  body: () => ({}),
  will: (name) => `send a test message to each channel of the rule ${name}`,
  data: ({ channels }) => channels,
  done: ({ channels }, _, { out }) =>
    channels.map(({ channel, error }) =>
      error === null
        ? `${out.paint('green', '✓')} ${channel} took it`
        : `${out.paint('red', '✗')} ${channel}: ${error}`,
    ),
  leave: ({ channels }) => (channels.some(({ error }) => error !== null) ? 'temporary' : null),
})

export const ALERT_COLUMNS: Column<Rule>[] = [
  { title: 'RULE', value: ({ name }) => name, most: 40 },
  { title: 'WHEN', value: ({ when }) => when },
  { title: 'WORKFLOW', value: ({ workflow }) => workflow, most: 30 },
  { title: 'TO', value: ({ channels }) => channels.map(({ name }) => name).join(', '), most: 30 },
  { title: 'OPEN', value: ({ open }) => open.length, align: 'right' },
]

function describeRule({ name, when, open, past, channels }: Rule, printsPast: boolean): string[] {
  return [
    ...open.map(
      (topic) => `${name}: ${describeTopic(topic, when)}${topic.lastSentAt === null ? ', not sent yet' : ''}`,
    ),
    ...channels.flatMap(({ name: channel, sentAt, error }) =>
      error === null ? [] : [`${name}: ${channel} did not take the message of ${formatMoment(sentAt)}: ${error}`],
    ),
    ...(printsPast ? past : []).map(
      (topic) => `${name}: ${describeTopic(topic, when)}, over since ${formatMoment(topic.endedAt)}`,
    ),
  ]
}

function describeTopic({ title, count, since }: Rule['open'][number], when: Rule['when']): string {
  const times = MEASURED_ALERTS.has(when) || count === 1 ? '' : ` (${count})`
  return `${formatText(title)}${times}, since ${formatMoment(since)}`
}
