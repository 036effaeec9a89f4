import { type ErrorCode, UpshotError } from '../../../core/errors.ts'
import type { IncomingDelivery } from '../../../core/incoming/delivery.ts'
import type { Lease } from '../../../core/runs/lease.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { Store } from '../../../core/store/store.ts'

/** A call of a store in another thread. */
export interface Call {
  number: number
  method: keyof Store
  args: unknown[]
}

/** A call as it is sent: number and method, then the arguments, of which some are their fields. */
export type PackedCall = readonly [number: number, method: Call['method'], ...args: unknown[]]

/** All fields of a type. The compiler asks for each that it gains. */
function fieldsOf<T>(fields: Record<keyof T, true>): string[] {
  return Object.keys(fields)
}

const DELIVERY = fieldsOf<IncomingDelivery>({
  id: true,
  endpointId: true,
  account: true,
  receivedAt: true,
  event: true,
  body: true,
  facts: true,
  workflows: true,
  priorities: true,
  arrivalClaim: true,
  setup: true,
})
const LEASE = fieldsOf<Lease>({ runId: true, fence: true, worker: true, era: true })
const STEP = fieldsOf<Checkpoint>({
  key: true,
  position: true,
  kind: true,
  effect: true,
  status: true,
  attempt: true,
  output: true,
  error: true,
  target: true,
  startedAt: true,
  finishedAt: true,
  dueAt: true,
  apartBytes: true,
  settled: true,
})

/**
 * First arguments of frequent calls, of which only the values are sent. To read their names, too,
 * takes three times as long.
 */
const LISTED: Partial<Record<Call['method'], readonly string[][]>> = {
  saveDelivery: [DELIVERY],
  saveCheckpoint: [LEASE, STEP],
  completeRun: [LEASE],
}

export function packCall({ number, method, args }: Call): PackedCall {
  const listed = LISTED[method] ?? []
  // One array for all: each copy of it would be garbage, for every step of every run.
  const packed: [number, Call['method'], ...unknown[]] = [number, method]
  for (const [at, arg] of args.entries()) {
    const fields = listed[at]
    if (fields === undefined) packed.push(arg)
    else for (const field of fields) packed.push((arg as Record<string, unknown>)[field])
  }
  return packed
}

export function unpackCall([number, method, ...packed]: PackedCall): Call {
  const listed = LISTED[method] ?? []
  let next = 0
  const args = listed.map((fields) => {
    const given: Record<string, unknown> = {}
    for (const field of fields) {
      const value = packed[next++]
      if (value !== undefined) given[field] = value
    }
    return given
  })
  return { number, method, args: [...args, ...packed.slice(next)] }
}

/** The answer to a call, with its number. Most calls have no value: theirs is the number alone. */
export type Answer = number | readonly [number: number, value: unknown] | { number: number; error: SentError }

interface SentError {
  /** Null for an error that is not ours. */
  code: ErrorCode | null
  message: string
  details?: UpshotError['details']
}

/** Errors lose their class between threads, so they travel as code, message and details. */
export async function encodeAnswer(number: number, result: Promise<unknown>): Promise<Answer> {
  try {
    const value = await result
    return value === undefined ? number : [number, value]
  } catch (error) {
    if (error instanceof UpshotError) {
      const { code, message, details } = error
      return { number, error: { code, message, details } }
    }
    return { number, error: { code: null, message: error instanceof Error ? error.message : String(error) } }
  }
}

export function numberOf(answer: Answer): number {
  if (typeof answer === 'number') return answer
  return 'number' in answer ? answer.number : answer[0]
}

export function decodeAnswer(answer: Answer): { value?: unknown; error?: Error } {
  if (typeof answer === 'number') return {}
  if (!('error' in answer)) return { value: answer[1] }
  const { code, message, details = {} } = answer.error
  return { error: code === null ? new Error(message) : new UpshotError(code, message, { details }) }
}
