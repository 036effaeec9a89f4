import type { Command } from '@commander-js/extra-typings'
import { deliverSigned } from '../../../app/send/send-event.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { requireRunningApp } from '../../open/running-app.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { findDelivery } from './find-delivery.ts'

/** `upshot deliveries replay <id>`: sends the same bytes, newly signed. Exits with 7 if refused. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of an accepted delivery, dlv_…, or its beginning').action((id) =>
    project.withStore(async (store, config) => {
      const { endpoint, event } = await findReplay(store, id)
      const { receiver } = await requireRunningApp(config)
      const body = Buffer.from(event.body)
      const parameters = { event: event.id, endpoint: endpoint.name }
      await project.recordAction({ action: 'delivery.replay', target: id, parameters }, 'begun')
      const target = { endpoint, receiver, now: commandClock.now(), signal: onInterrupt() }
      const { status, verdict, reason } = await deliverSigned({ id: event.id, body }, target)
      const got = verdict ?? `refused with HTTP ${status}`
      const why = reason === null ? '' : ` (${reason})`
      out.result({ delivery: id, event: event.id, endpoint: endpoint.name, status, verdict, reason }, () => [
        verdict === 'duplicate'
          ? `The endpoint "${endpoint.name}" verified the bytes of ${event.id} and recognized them: duplicate.`
          : `The endpoint "${endpoint.name}" answered the bytes of ${event.id}: ${got}${why}.`,
      ])
      if (verdict !== 'duplicate') out.leaveWith('difference')
      else out.note('No run was started.')
    }),
  )
}

/** The event of the delivery and its endpoint. Throws `conflict` if it cannot be sent again. */
async function findReplay(store: ReadStore, id: string): Promise<{ endpoint: Endpoint; event: EventRecord }> {
  const { delivery, event } = await findDelivery(store, id)
  const { verdict } = delivery
  if (verdict !== 'accepted' && verdict !== 'duplicate') {
    throw refuse(`Delivery ${id} has the verdict "${verdict}", but only the bytes of accepted deliveries are kept.`)
  }
  if (event === null) throw refuse(`The event of delivery ${id} is no longer stored.`)
  if (event.body === '') throw refuse(`The body of event ${event.id} is pruned, so its bytes cannot be sent again.`)
  const endpoint = (await store.listEndpoints()).find((known) => known.id === delivery.endpointId)
  if (!endpoint) throw refuse(`The endpoint of delivery ${id} has been removed.`)
  if (endpoint.account !== event.account) {
    // In another account it would be a new event, and would start runs.
    throw refuse(
      `Endpoint "${endpoint.name}" now belongs to account ${endpoint.account}, the event to ${event.account}.`,
    )
  }
  return { endpoint, event }
}

function refuse(message: string): UpshotError {
  return new UpshotError('conflict', message, {
    details: { fix: 'Choose another delivery from "upshot deliveries list --verdict accepted".' },
  })
}
