import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { requireRunningApp } from '../../open/running-app.ts'
import { deliverSigned } from '../../send/send-event.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { findDelivery } from './find-delivery.ts'

/**
 * `upshot deliveries replay <id>`: the same bytes once more, freshly signed; known already, so
 * nothing is done twice.
 */
export function define(command: Command, out: Output): void {
  command.argument('<id>', 'a delivery that was taken, dlv_…').action((id) =>
    withStore(async (store, config) => {
      const { endpoint, event } = await findReplay(store, id)
      const { receiver } = await requireRunningApp(config)
      const body = Buffer.from(event.body)
      const target = { endpoint, receiver, now: systemClock.now(), signal: onInterrupt() }
      const { status, verdict, reason } = await deliverSigned({ id: event.id, body }, target)
      const got = verdict ?? `refused with HTTP ${status}`
      out.result({ delivery: id, event: event.id, endpoint: endpoint.name, status, verdict, reason }, () => [
        verdict === 'duplicate'
          ? `The endpoint "${endpoint.name}" verified the bytes of ${event.id} again and knew them: duplicate.`
          : `The endpoint "${endpoint.name}" answered to the bytes of ${event.id}: ${got}${reason === null ? '' : ` (${reason})`}.`,
      ])
      if (verdict !== 'duplicate') out.leaveWith('difference')
      else out.note('Nothing was started.')
    }),
  )
}

/** What can be sent again: an event that a delivery brought, to the endpoint that it came by. */
async function findReplay(store: ReadStore, id: string): Promise<{ endpoint: Endpoint; event: EventRecord }> {
  const { delivery, event } = await findDelivery(store, id)
  const { verdict } = delivery
  if (verdict !== 'accepted' && verdict !== 'duplicate') {
    throw refuse(`Delivery ${id} was answered "${verdict}", and only the bytes of accepted ones are kept.`)
  }
  if (event === null) throw refuse(`The event of delivery ${id} is not kept any more.`)
  if (event.body === '') throw refuse(`The body of event ${event.id} is pruned, so its bytes cannot be sent again.`)
  const endpoint = (await store.listEndpoints()).find((known) => known.id === delivery.endpointId)
  if (!endpoint) throw refuse(`The endpoint that delivery ${id} came by is removed.`)
  if (endpoint.account !== event.account) {
    // There it would be another event, and would be run.
    throw refuse(
      `Endpoint "${endpoint.name}" now belongs to account ${endpoint.account}, the event to ${event.account}.`,
    )
  }
  return { endpoint, event }
}

function refuse(message: string): UpshotError {
  return new UpshotError('conflict', message, {
    details: { fix: 'Choose another one of "upshot deliveries list --verdict accepted".' },
  })
}
