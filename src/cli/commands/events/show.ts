import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { call } from '../../open/operations.ts'
import { formatBytes, formatMoment, formatText } from '../../terminal/format-value.ts'
import { formatSection, formatTable, indented, type Layout } from '../../terminal/table.ts'
import { deliveryColumns } from '../deliveries/delivery-view.ts'
import { eventRunColumns } from '../runs/run-view.ts'
import { formatTrace } from './trace-view.ts'

const LINES_SHOWN = 60

type Story = AnswerOf<'GET /events/:id'>

/** `upshot events show <id>`: one event with its deliveries and runs, or its trace. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the event, or its beginning')
    .option('--account <name>', 'account of the event, if several have one with this id')
    .option('--trace', 'show all that it caused as a tree: runs, steps, calls, failed attempts, later runs')
    .option('--redacted', 'show its type and data with other texts of the same form, to show it to others')
    .action((id, { account, trace: isTrace = false, redacted: isRedacted = false }) =>
      project.withOperations(async (operations) => {
        const params = { id }
        const query = account === undefined ? {} : { account }
        if (isRedacted) {
          const redacted = await call(operations, 'GET /events/:id/redacted', { params, query })
          return out.result(redacted, () => JSON.stringify(redacted, null, 2).split('\n'))
        }
        const story = await call(operations, 'GET /events/:id', { params, query })
        if (isTrace) {
          const trace = await call(operations, 'GET /events/:id/trace', { params, query: { ...query, steps: 'true' } })
          const view = { now: commandClock.now(), paint: out.paint }
          return out.result(trace, () => formatTrace(story, trace.nodes, view))
        }
        out.result(story, () => formatStory(story, commandClock.now(), out))
      }),
    )
}

function formatStory(event: Story, now: number, layout: Layout): string[] {
  const { deliveries, runs } = event
  const { paint } = layout
  const facts = [
    ['type', event.type],
    ['account', event.account],
    ['origin', event.origin],
    ['created', formatMoment(event.createdAt, now) ?? ''],
    ['received', formatMoment(event.receivedAt, now) ?? ''],
    ['size', formatBytes(event.bodyBytes) ?? ''],
  ]
  // JSON.stringify escapes line breaks, so each line can be made safe on its own.
  const body = describeData(event)
  const cut = body.length > LINES_SHOWN ? [`… ${body.length - LINES_SHOWN} more lines with --json`] : []
  return [
    paint('bold', formatText(event.id)),
    ...facts.map(([name = '', value = '']) => `  ${name.padEnd(9)} ${formatText(value, 300)}`),
    ...formatSection(
      'Data',
      [...body.slice(0, LINES_SHOWN), ...cut].map((line) => formatText(line, 200)),
      paint,
    ),
    ...formatSection('Deliveries', formatTable(deliveries, deliveryColumns(now), indented(layout)), paint),
    ...formatSection('Runs', formatTable(runs, eventRunColumns(now), indented(layout)), paint),
  ]
}

function describeData({ data, isPruned }: Story): string[] {
  if (data === null) return [isPruned ? '(pruned)' : '(larger than 64 KiB)']
  return JSON.stringify(data, null, 2).split('\n')
}
