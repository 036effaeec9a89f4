import type { Command } from '@commander-js/extra-typings'
import type { OpenTopic } from '../../../../core/alerts/alert-book.ts'
import type { AlertRule } from '../../../../core/alerts/alert-rule.ts'
import { systemClock } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { formatMoment, formatText } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

interface RuleRow extends AlertRule {
  topics: readonly OpenTopic[]
}

/** `upshot alerts list`: the rules of the project file with their open topics. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withStore(async (store, { alerts }) => {
      const now = systemClock.now()
      const rows = await Promise.all(
        (alerts?.rules ?? []).map(async (rule): Promise<RuleRow> => {
          const kept = await store.loadAlertBook(rule.name)
          return { ...rule, topics: kept?.book.topics ?? [] }
        }),
      )
      out.result(rows, () => [
        ...formatTable(rows, ALERT_COLUMNS, out),
        ...rows.flatMap(({ name, topics }) => topics.map((topic) => `${name}: ${describeTopic(topic, now)}`)),
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

function describeTopic({ title, count, since, told }: OpenTopic, now: number): string {
  const times = `${count} since ${formatMoment(since, now)}`
  return `${formatText(title)}, ${times}${told === null ? ', not told yet' : ''}`
}
