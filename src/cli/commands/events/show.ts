import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { Run } from '../../../core/runs/run.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { formatBytes, formatMoment, formatText, withIsoTimes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { deliveryColumns, type NamedDelivery, nameDeliveries } from '../deliveries/delivery-view.ts'
import { describeRun, eventRunColumns } from '../runs/run-view.ts'
import { readEventTrace } from './event-trace.ts'
import { findEvent } from './find-event.ts'
import { describeTrace, formatTrace } from './trace-view.ts'

const MOST = 100
const LINES_SHOWN = 60

interface Story {
  event: EventRecord
  deliveries: NamedDelivery[]
  runs: Run[]
}

/** `upshot events show <id>`: what the service said, how often, and what was done about it. */
export function define(command: Command, out: Output): void {
  command
    .argument('<id>', 'the event, evt_…')
    .option('--account <name>', 'whose event, where several accounts have one of this id')
    .option('--trace', 'all that followed from it as one tree: runs, steps, calls, failed attempts, later runs')
    .action((id, { account, trace: isTrace = false }) =>
      withStore(async (store) => {
        const event = await findEvent(store, { id, account })
        if (isTrace) return showTrace(store, event, out)
        const deliveries = await nameDeliveries(store, await store.listDeliveriesOf(event, MOST))
        const runs = await store.listRuns({ limit: MOST, eventId: id, account: event.account })
        out.result(describeStory({ event, deliveries, runs }), () =>
          formatStory({ event, deliveries, runs }, systemClock.now(), out.paint),
        )
      }),
    )
}

async function showTrace(store: ReadStore, event: EventRecord, out: Output): Promise<void> {
  const now = systemClock.now()
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

/** Null once retention has pruned it. */
function parseBody({ body }: EventRecord): unknown {
  return body === '' ? null : JSON.parse(body)
}

function formatStory({ event, deliveries, runs }: Story, now: number, paint: Output['paint']): string[] {
  const facts = [
    ['type', event.type],
    ['account', event.account],
    ['origin', event.origin],
    ['made', formatMoment(event.createdAt, now) ?? ''],
    ['received', formatMoment(event.receivedAt, now) ?? ''],
    ['size', formatBytes(Buffer.byteLength(event.body)) ?? ''],
  ]
  // As JSON.stringify writes it, no control character is left in it; the rest is made harmless line
  // by line.
  const content = parseBody(event)
  const body = content === null ? ['(pruned)'] : JSON.stringify(content, null, 2).split('\n')
  const cut = body.length > LINES_SHOWN ? [`… ${body.length - LINES_SHOWN} more lines with --json`] : []
  return [
    paint('bold', formatText(event.id)),
    ...facts.map(([name = '', value = '']) => `  ${name.padEnd(9)} ${formatText(value, 300)}`),
    ...section(
      'Body',
      [...body.slice(0, LINES_SHOWN), ...cut].map((line) => formatText(line, 200)),
      paint,
    ),
    ...section('Deliveries', formatTable(deliveries, deliveryColumns(now), paint), paint),
    ...section('Runs', formatTable(runs, eventRunColumns(now), paint), paint),
  ]
}

function section(title: string, lines: readonly string[], paint: Output['paint']): string[] {
  return lines.length === 0 ? [] : ['', paint('bold', title), ...lines.map((line) => `  ${line}`)]
}
