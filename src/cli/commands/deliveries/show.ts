import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { Run } from '../../../core/runs/run.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { formatBytes, formatMoment, formatText, withIsoTimes } from '../../terminal/format-value.ts'
import { formatTable, indented, type Layout } from '../../terminal/table.ts'
import { describeRun, eventRunColumns } from '../runs/run-view.ts'
import { describeRefusal, type NamedDelivery, nameDeliveries, styleVerdict } from './delivery-view.ts'
import { findDelivery } from './find-delivery.ts'

interface Story {
  delivery: NamedDelivery
  /** Null for a refused delivery. */
  event: EventRecord | null
  runs: Run[]
}

/** `upshot deliveries show <id>`: one delivery with its event and runs. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the delivery, dlv_…, or its beginning').action((id) =>
    project.withStore(async (store) => {
      const { delivery: found, event } = await findDelivery(store, id)
      const [delivery] = await nameDeliveries(store, [found])
      if (!delivery) return
      const runs = event === null ? [] : await store.listRuns({ limit: 100, eventId: event.id, account: event.account })
      out.result(describeStory({ delivery, event, runs }), () =>
        formatStory({ delivery, event, runs }, commandClock.now(), out),
      )
      if (event !== null) out.note(`Show the content of its event: upshot events show ${event.id}`)
    }),
  )
}

function describeStory({ delivery, event, runs }: Story): Record<string, unknown> {
  const { body, ...facts } = event ?? { body: null }
  return {
    ...withIsoTimes(delivery),
    event: event && { ...withIsoTimes(facts), bodyBytes: Buffer.byteLength(body ?? '') },
    runs: runs.map(describeRun),
  }
}

function formatStory({ delivery, event, runs }: Story, now: number, layout: Layout): string[] {
  const { paint } = layout
  const { facts, verdict } = delivery
  const style = styleVerdict(verdict)
  const rows: [string, string | null][] = [
    ['verdict', style === null ? verdict : paint(style, verdict)],
    ['why', describeRefusal(delivery)],
    ['endpoint', delivery.endpoint],
    ['received', formatMoment(delivery.receivedAt, now)],
    ['size', formatBytes(delivery.bodyBytes)],
    ['secret', facts.secret === undefined ? null : `matched number ${facts.secret}`],
    ['signed', facts.skewSeconds === undefined ? null : `${facts.skewSeconds} s before it arrived`],
    ['event', event && formatText(`${event.id}  ${event.type}, of account ${event.account}`, 300)],
  ]
  const lines = rows.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(9)} ${value}`]))
  const table = formatTable(runs, eventRunColumns(now), indented(layout))
  return [
    paint('bold', delivery.id),
    ...lines,
    ...(table.length === 0 ? [] : ['', ...table.map((line) => `  ${line}`)]),
  ]
}
