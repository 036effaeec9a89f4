import type { Trials } from '../../admin/ports/surroundings.ts'
import { newId } from '../../core/ids.ts'
import { newSecret } from '../../core/incoming/endpoint.ts'
import { TEST_EVENT } from '../../core/incoming/event.ts'
import { markProbe, PROBE_HEADER } from '../../core/incoming/probe-mark.ts'
import { signBody } from '../../core/incoming/signature.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime } from '../../core/time.ts'
import { type Answer, deliver, deliverSigned, type Target } from './deliver.ts'

type Trial = Trials['trials'][number]

/**
 * Sends a signed, a forged and a repeated delivery, and checks that the event is stored once. The
 * forged one is marked as a probe, so that it does not look like an attack.
 */
export async function tryEndpoint(store: ReadStore, target: Target & { probeKey: Uint8Array }): Promise<Trials> {
  const { endpoint, receiver, now, signal } = target
  const id = newId('evt', now)
  const data = { message: 'Sent by the command "endpoints test". It starts no workflow of "*".' }
  const body = Buffer.from(JSON.stringify({ id, type: TEST_EVENT, created: isoTime(now), data }))
  const signature = signBody(endpoint.scheme, newSecret(endpoint.scheme), { id, body }, now)
  const forgery = { ...signature, [PROBE_HEADER]: markProbe(target.probeKey, endpoint.path, now) }

  const trials = [
    judge('signed', 'accepted', await deliverSigned({ id, body }, target)),
    judge('forged', 'refused', await deliver(`${receiver}/hooks/${endpoint.path}`, { body, headers: forgery, signal })),
    judge('repeated', 'duplicate', await deliverSigned({ id, body }, target)),
  ]
  const events = (await store.findEvents(id)).filter((event) => event.account === endpoint.account)
  return { event: id, trials, isStored: events.length === 1 && events[0]?.body === body.toString() }
}

function judge(sent: Trial['sent'], expected: string, { status, verdict }: Answer): Trial {
  const got = verdict ?? (status === 401 ? 'refused' : `HTTP ${status}`)
  return { sent, expected, got, status, isRight: got === expected }
}
