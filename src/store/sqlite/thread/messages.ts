import type { MessagePort } from 'node:worker_threads'
import { type ErrorCode, UpshotError } from '../../../core/errors.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../../../core/incoming/delivery.ts'
import type { EventNumber } from '../../../core/incoming/event.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { StoreWrites } from '../../../core/store/store.ts'

/** A message of the store's owner that is no call: another thread begins or ends to write. */
export type WriterRequest =
  | { kind: 'connect'; connection: number; port: MessagePort }
  | { kind: 'cut'; connection: number }

/** A call on its way to the writer thread. */
export interface Call {
  number: number
  method: keyof StoreWrites | 'close'
  args: unknown[]
}

/** A call as it is sent. Frequent calls are lists, which take a third of the time to read. */
export type PackedCall = Call | PackedDelivery | PackedCheckpoint | PackedCompletion
type PackedDelivery = ReturnType<typeof packDelivery>
type PackedCheckpoint = ReturnType<typeof packCheckpoint>
type PackedCompletion = ReturnType<typeof packCompletion>

export function packCall(number: number, method: Call['method'], args: unknown[]): PackedCall {
  switch (method) {
    case 'saveDelivery':
      return packDelivery(number, args as Parameters<StoreWrites['saveDelivery']>)
    case 'saveCheckpoint':
      return packCheckpoint(number, args as Parameters<StoreWrites['saveCheckpoint']>)
    case 'completeRun':
      return packCompletion(number, args as Parameters<StoreWrites['completeRun']>)
    default:
      return { number, method, args }
  }
}

export function unpackCall(packed: PackedCall): Call {
  if ('method' in packed) return packed
  switch (packed[0]) {
    case 'delivery':
      return unpackDelivery(packed)
    case 'checkpoint':
      return unpackCheckpoint(packed)
    case 'completion':
      return unpackCompletion(packed)
    default:
      return packed satisfies never
  }
}

function packDelivery(number: number, [delivery]: Parameters<StoreWrites['saveDelivery']>) {
  const { id, endpointId, account, receivedAt, event, body, facts, workflows, priorities, arrivalClaim, setup } =
    delivery
  const { id: eventId, type, created } = event
  const head = ['delivery', number, id, endpointId, account, receivedAt, eventId, type, created] as const
  return [...head, body, facts, workflows, priorities, arrivalClaim?.worker, arrivalClaim?.codeHashes, setup] as const
}

function unpackDelivery(packed: PackedDelivery): Call {
  const [, number, id, endpointId, account, receivedAt, eventId, type, created, body, facts, ...rest] = packed
  const [workflows, priorities, worker, codeHashes, setup] = rest
  const event = { id: eventId, type, created }
  const delivery: IncomingDelivery = { id, endpointId, account, receivedAt, event, body, facts, workflows }
  if (setup !== undefined) delivery.setup = setup
  if (priorities !== undefined) delivery.priorities = priorities
  if (worker !== undefined && codeHashes !== undefined) delivery.arrivalClaim = { worker, codeHashes }
  return { number, method: 'saveDelivery', args: [delivery] }
}

function packCheckpoint(number: number, [lease, step, failure, saved]: Parameters<StoreWrites['saveCheckpoint']>) {
  const { runId, fence, worker } = lease
  const { key, position, kind, effect, status, attempt, output, error, target } = step
  const { apartBytes, startedAt, finishedAt, dueAt, settled } = step
  const head = ['checkpoint', number, runId, fence, worker] as const
  const state = [key, position, kind, effect, status, attempt, output, error, target] as const
  return [...head, ...state, startedAt, finishedAt, dueAt, apartBytes, settled, failure, saved] as const
}

function unpackCheckpoint(packed: PackedCheckpoint): Call {
  const [, number, runId, fence, worker, key, position, kind, effect, status, attempt, output, ...rest] = packed
  const [error, target, startedAt, finishedAt, dueAt, apartBytes, settled, failure, saved] = rest
  const moments = { startedAt, finishedAt, dueAt }
  const step: Checkpoint = { key, position, kind, effect, status, attempt, output, error, target, ...moments }
  if (apartBytes !== undefined) step.apartBytes = apartBytes
  if (settled !== undefined) step.settled = settled
  return { number, method: 'saveCheckpoint', args: [{ runId, fence, worker }, step, failure, saved] }
}

function packCompletion(number: number, [lease, output, now, handsOn]: Parameters<StoreWrites['completeRun']>) {
  return ['completion', number, lease.runId, lease.fence, lease.worker, output, now, handsOn] as const
}

function unpackCompletion([, number, runId, fence, worker, output, now, handsOn]: PackedCompletion): Call {
  const args = [{ runId, fence, worker }, output, now]
  return { number, method: 'completeRun', args: handsOn === undefined ? args : [...args, handsOn] }
}

/** The answer to a call. Most calls have no value: theirs is the number alone. */
export type Answer = number | PackedReceipt | { number: number; value: unknown } | { number: number; error: SentError }
interface SentError {
  /** Null for an error that is not ours. */
  code: ErrorCode | null
  message: string
  details?: UpshotError['details']
}
type PackedReceipt = readonly [
  number: number,
  verdict: DeliveryReceipt['verdict'],
  runs: string[],
  claimedWithEvent?: EventNumber,
]

/** Errors lose their class between threads, so they travel as code, message and details. */
export async function encodeAnswer(
  { number, method }: { number: number; method: string },
  result: Promise<unknown>,
): Promise<Answer> {
  try {
    const value = await result
    if (value === undefined) return number
    return method === 'saveDelivery' ? packReceipt(number, value as DeliveryReceipt) : { number, value }
  } catch (error) {
    if (error instanceof UpshotError) {
      const { code, message, details } = error
      return { number, error: { code, message, details } }
    }
    return { number, error: { code: null, message: error instanceof Error ? error.message : String(error) } }
  }
}

/** The number of the call that an answer is for. */
export function numberOf(answer: Answer): number {
  if (typeof answer === 'number') return answer
  return 'number' in answer ? answer.number : answer[0]
}

/** Unpacks an answer: the number of its call, with the value or the error. */
export function decodeAnswer(answer: Answer): { number: number; value?: unknown; error?: Error } {
  if (typeof answer === 'number') return { number: answer }
  if ('error' in answer) return { number: answer.number, error: decodeError(answer.error) }
  return 'value' in answer ? answer : unpackReceipt(answer)
}

function packReceipt(number: number, { verdict, runs, claimedWithEvent }: DeliveryReceipt): PackedReceipt {
  return claimedWithEvent === undefined ? [number, verdict, runs] : [number, verdict, runs, claimedWithEvent]
}

function unpackReceipt([number, verdict, runs, claimedWithEvent]: PackedReceipt): {
  number: number
  value: DeliveryReceipt
} {
  return { number, value: claimedWithEvent === undefined ? { verdict, runs } : { verdict, runs, claimedWithEvent } }
}

function decodeError({ code, message, details = {} }: SentError): Error {
  return code === null ? new Error(message) : new UpshotError(code, message, { details })
}
