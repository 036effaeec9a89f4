import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../core/event.ts'
import type { Run } from '../../core/run.ts'
import { systemClock } from '../../core/time.ts'
import { requireEvent } from '../choose-event.ts'
import { deliveryColumns, type NamedDelivery, nameDeliveries } from '../delivery-view.ts'
import { formatBytes, formatMoment, formatText, withIsoTimes } from '../format-value.ts'
import type { Output } from '../output.ts'
import { withStore } from '../project.ts'
import { describeRun, runColumns } from '../run-view.ts'
import { formatTable } from '../table.ts'

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
    .action((id, { account }) =>
      withStore(async (store) => {
        const event = await requireEvent(store, { id, account })
        const deliveries = await nameDeliveries(store, await store.listDeliveriesOf(event, MOST))
        const runs = await store.listRuns({ limit: MOST, eventId: id, account: event.account })
        out.result(describeStory({ event, deliveries, runs }), () =>
          formatStory({ event, deliveries, runs }, systemClock.now(), out.paint),
        )
      }),
    )
}

function describeStory({ event, deliveries, runs }: Story): Record<string, unknown> {
  return {
    ...withIsoTimes(event),
    body: JSON.parse(event.body),
    deliveries: deliveries.map(withIsoTimes),
    runs: runs.map(describeRun),
  }
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
  // As JSON.stringify writes it, no control character is left in it; the rest is made harmless line by line.
  const body = JSON.stringify(JSON.parse(event.body), null, 2).split('\n')
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
    ...section('Runs', formatTable(runs, runColumns(now), paint), paint),
  ]
}

function section(title: string, lines: readonly string[], paint: Output['paint']): string[] {
  return lines.length === 0 ? [] : ['', paint('bold', title), ...lines.map((line) => `  ${line}`)]
}
