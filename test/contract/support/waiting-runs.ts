import type { Lease } from '../../../src/core/runs/lease.ts'
import type { EventKey } from '../../../src/core/runs/matching.ts'
import type { EventWait, Invocation, Question } from '../../../src/core/runs/wait.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { checkpoint, eventBody, incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { claimNext } from './claim-next.ts'

/** The question of a step that waits for people. */
export const QUESTION: Question = {
  workflow: 'follow-up',
  account: 'default',
  ask: 'Go on?',
  show: null,
  answer: null,
  needs: 1,
  role: null,
  openedAt: 0,
  expiresAt: 0,
  effects: [],
}

export const WAIT: EventWait = {
  account: 'default',
  type: 'file.moved',
  name: 'file',
  value: 'fil_1',
  version: 'v1',
  since: 'now',
  at: NOW,
}
export const WAITING = checkpoint('moved', {
  kind: 'wait',
  status: 'waiting',
  output: null,
  finishedAt: null,
  dueAt: NOW + 1_000,
})
export const PARK = { dueAt: NOW + 1_000, reason: 'waits', awaits: ['moved'] }

/** Saves an event with one run, and claims that. */
export async function claimLease(store: Store, eventId = 'evt_1'): Promise<Lease> {
  await queueRun(store, eventId)
  return (await claimNext(store)).lease
}

/** Has a step of a run invoke another one. */
export async function invoke(store: Store, parent: Lease, part: Partial<Invocation> & { run: string }, key = 'ask') {
  const child = { workflow: 'child', account: 'default', input: 'null', createdAt: NOW, ...part }
  const open = { kind: 'invoke', status: 'waiting', output: null, finishedAt: null, target: part.run } as const
  await store.saveCheckpoint(parent, checkpoint(key, open), undefined, { invoke: child })
}

/** A run with a step that waits for an event, parked or still at work. */
export async function waitingRun(store: Store, part: Partial<EventWait> = {}, isParked = true): Promise<Lease> {
  const lease = await claimLease(store, `evt_of_${Math.random()}`)
  await store.saveCheckpoint(lease, WAITING, undefined, { wait: { ...WAIT, ...part } })
  if (isParked) await store.parkRun(lease, PARK)
  return lease
}

/** Stores an event that starts no run, and returns its number. */
export async function addEvent(store: Store, id: string): Promise<number> {
  await store.saveDelivery(incoming(id, { workflows: [], body: eventBody(id, 'file.moved', {}) }))
  return readNewest(store)
}

/** Number of the newest event; these tests use one account, so one stream. */
export async function readNewest(store: Store): Promise<number> {
  const { newest } = await store.listMatchCursors()
  return Math.max(0, ...newest.values())
}

/** Matches all events up to the newest; `values` has the key of each event by its number. */
export async function match(store: Store, values: Record<number, string>) {
  const { cursors, newest } = await store.listMatchCursors()
  const cursor = cursors.find(({ isOpen, version }) => isOpen && version === WAIT.version)
  if (!cursor) throw new Error('no run waits')
  const keys: EventKey[] = Object.entries(values)
    .map(([seq, value]) => ({ cursor: cursor.id, seq: Number(seq), account: 'default', value, event: `evt_${seq}` }))
    .filter(({ seq }) => seq > cursor.position)
  const { stream, position } = cursor
  return store.saveMatches({ cursors: [cursor], stream, from: position, to: newest.get(stream) ?? 0, keys }, NOW)
}

export const statusOf = async (store: Store, { runId }: Lease) => (await store.findRun(runId))?.status
