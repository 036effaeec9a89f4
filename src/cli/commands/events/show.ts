import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { Run } from '../../../core/runs/run.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findEvent } from '../../open/find-event.ts'
import { formatBytes, formatMoment, formatText, withIsoTimes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { formatSection, formatTable, indented, type Layout } from '../../terminal/table.ts'
import { deliveryColumns, type NamedDelivery, nameDeliveries } from '../deliveries/delivery-view.ts'
import { describeRun, eventRunColumns } from '../runs/run-view.ts'
import { readEventTrace } from './event-trace.ts'
import { parseBody } from './event-view.ts'
import { redactEvent } from './redact-event.ts'
import { describeTrace, formatTrace } from './trace-view.ts'

const MAX_ROWS = 100
const LINES_SHOWN = 60

/** An event with its deliveries and runs. */
interface Story {
  event: EventRecord
  deliveries: NamedDelivery[]
  runs: Run[]
}

/** `upshot events show <id>`: one event with its deliveries and runs, or its trace. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the event, or its beginning')
    .option('--account <name>', 'account of the event, if several have one with this id')
    .option('--trace', 'show all that it caused as a tree: runs, steps, calls, failed attempts, later runs')
    .option('--redacted', 'show its type and data with other texts of the same form, to show it to others')
    .action((id, { account, trace: isTrace = false, redacted: isRedacted = false }) =>
      project.withStore(async (store) => {
        const event = await findEvent(store, { id, account })
        if (isTrace) return showTrace(store, event, out)
        if (isRedacted) {
          const redacted = await redactEvent(store, event)
          return out.result(redacted, () => JSON.stringify(redacted, null, 2).split('\n'))
        }
        const deliveries = await nameDeliveries(store, await store.listDeliveriesOf(event, MAX_ROWS))
        const runs = await store.listRuns({ limit: MAX_ROWS, eventId: event.id, account: event.account })
        out.result(describeStory({ event, deliveries, runs }), () =>
          formatStory({ event, deliveries, runs }, commandClock.now(), out),
        )
      }),
    )
}

async function showTrace(store: ReadStore, event: EventRecord, out: Output): Promise<void> {
  const now = commandClock.now()
  const tree = await readEventTrace(store, event, now)
  out.result(describeTrace(tree), () => formatTrace(tree, now, out.paint))
}

function describeStory({ event, deliveries, runs }: Story): Record<string, unknown> {
  return {
    ...withIsoTimes(event),
    body: parseBody(event),
    deliveries: deliveries.map(withIsoTimes),
    runs: runs.map(describeRun),
  }
}

function formatStory({ event, deliveries, runs }: Story, now: number, layout: Layout): string[] {
  const { paint } = layout
  const facts = [
    ['type', event.type],
    ['account', event.account],
    ['origin', event.origin],
    ['created', formatMoment(event.createdAt, now) ?? ''],
    ['received', formatMoment(event.receivedAt, now) ?? ''],
    ['size', formatBytes(Buffer.byteLength(event.body)) ?? ''],
  ]
  // JSON.stringify escapes line breaks, so each line can be made safe on its own.
  const content = parseBody(event)
  const body = content === null ? ['(pruned)'] : JSON.stringify(content, null, 2).split('\n')
  const cut = body.length > LINES_SHOWN ? [`… ${body.length - LINES_SHOWN} more lines with --json`] : []
  return [
    paint('bold', formatText(event.id)),
    ...facts.map(([name = '', value = '']) => `  ${name.padEnd(9)} ${formatText(value, 300)}`),
    ...formatSection(
      'Body',
      [...body.slice(0, LINES_SHOWN), ...cut].map((line) => formatText(line, 200)),
      paint,
    ),
    ...formatSection('Deliveries', formatTable(deliveries, deliveryColumns(now), indented(layout)), paint),
    ...formatSection('Runs', formatTable(runs, eventRunColumns(now), indented(layout)), paint),
  ]
}
