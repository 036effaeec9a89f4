import type { Command } from '@commander-js/extra-typings'
import { type ChannelState, EMPTY_BOOK, type OpenTopic, type PastTopic } from '../../../../core/alerts/alert-book.ts'
import { type AlertRule, MEASURED_ALERTS } from '../../../../core/alerts/alert-rule.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatMoment, formatText } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

interface RuleRow extends AlertRule {
  topics: readonly OpenTopic[]
  /** Newest first. */
  past: readonly PastTopic[]
  channels: readonly ChannelState[]
}

/** `upshot alerts list`: the rules of the project file with their open topics. */
export function define(command: Command, { out, project }: Cli): void {
  command.option('--past', 'print what is over, too').action(({ past: printsPast = false }) =>
    project.withStore(async (store, { alerts }) => {
      const now = commandClock.now()
      const rows = await Promise.all(
        (alerts?.rules ?? []).map(async (rule): Promise<RuleRow> => {
          const kept = await store.loadAlertBook(rule.name)
          const { topics, past, channels } = kept?.book ?? EMPTY_BOOK
          return { ...rule, topics, past, channels }
        }),
      )
      out.result(rows, () => [
        ...formatTable(rows, ALERT_COLUMNS, out),
        ...rows.flatMap((row) => describeRow(row, { now, printsPast })),
      ])
      if (rows.length === 0) out.note('The project file has no rules. See docs/operating.md, Alerts.')
    }),
  )
}

/** Columns of a table of rules. */
export const ALERT_COLUMNS: Column<RuleRow>[] = [
  { title: 'RULE', value: ({ name }) => name, most: 40 },
  { title: 'WHEN', value: ({ when }) => when },
  { title: 'WORKFLOW', value: ({ workflow }) => workflow, most: 30 },
  { title: 'TO', value: ({ to }) => to.join(', '), most: 30 },
  { title: 'OPEN', value: ({ topics }) => topics.length, align: 'right' },
]

function describeRow(
  { name, when, topics, past, channels }: RuleRow,
  { now, printsPast }: { now: number; printsPast: boolean },
): string[] {
  return [
    ...topics.map(
      (topic) => `${name}: ${describeTopic(topic, when, now)}${topic.told === null ? ', not told yet' : ''}`,
    ),
    ...channels.flatMap(({ channel, at, error }) =>
      error === null ? [] : [`${name}: ${channel} did not take the message of ${formatMoment(at, now)}: ${error}`],
    ),
    ...(printsPast ? past : []).map(
      (topic) => `${name}: ${describeTopic(topic, when, now)}, over since ${formatMoment(topic.endedAt, now)}`,
    ),
  ]
}

function describeTopic({ title, count, since }: OpenTopic | PastTopic, when: AlertRule['when'], now: number): string {
  const times = MEASURED_ALERTS.has(when) || count === 1 ? '' : ` (${count})`
  return `${formatText(title)}${times}, since ${formatMoment(since, now)}`
}
