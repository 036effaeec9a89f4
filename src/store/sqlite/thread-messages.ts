import { type ErrorCode, UpshotError } from '../../core/errors.ts'
import type { Checkpoint } from '../../core/step.ts'
import type { StoreWriter } from './writer.ts'

/** A call on its way to the writer thread. */
export interface Call {
  number: number
  method: keyof StoreWriter | 'close'
  args: unknown[]
}

/** A call as it crosses: checkpoints, which are most of what does, as lists, because those are read in a fifth of the time. */
export type PackedCall = Call | PackedCheckpoint
type PackedCheckpoint = ReturnType<typeof packCheckpoint>

export function packCall(number: number, method: Call['method'], args: unknown[]): PackedCall {
  if (method !== 'saveCheckpoint') return { number, method, args }
  return packCheckpoint(number, args as Parameters<StoreWriter['saveCheckpoint']>)
}

export function unpackCall(packed: PackedCall): Call {
  return 'method' in packed ? packed : unpackCheckpoint(packed)
}

function packCheckpoint(number: number, [lease, step, failure, alongside]: Parameters<StoreWriter['saveCheckpoint']>) {
  const { runId, fence, worker } = lease
  const { key, position, kind, effect, status, attempt, output, error, target } = step
  const { apartBytes, startedAt, finishedAt, dueAt } = step
  const state = [key, position, kind, effect, status, attempt, output, error, target] as const
  return [number, runId, fence, worker, state, startedAt, finishedAt, dueAt, apartBytes, failure, alongside] as const
}

function unpackCheckpoint(packed: PackedCheckpoint): Call {
  const [number, runId, fence, worker, state, startedAt, finishedAt, dueAt, apartBytes, failure, alongside] = packed
  const [key, position, kind, effect, status, attempt, output, error, target] = state
  const moments = { startedAt, finishedAt, dueAt }
  const step: Checkpoint = { key, position, kind, effect, status, attempt, output, error, target, ...moments }
  if (apartBytes !== undefined) step.apartBytes = apartBytes
  return { number, method: 'saveCheckpoint', args: [{ runId, fence, worker }, step, failure, alongside] }
}

/** What became of it; the number alone where there is nothing to say but that it is done, as of most calls. */
export type Answer =
  | number
  | { number: number; value: unknown }
  | { number: number; error: { code: ErrorCode | null; message: string } }

/** Errors lose their class between threads, so they travel as code and message. */
export async function encodeAnswer(number: number, result: Promise<unknown>): Promise<Answer> {
  try {
    const value = await result
    return value === undefined ? number : { number, value }
  } catch (error) {
    const code = error instanceof UpshotError ? error.code : null
    return { number, error: { code, message: error instanceof Error ? error.message : String(error) } }
  }
}

export function decodeError({ code, message }: { code: ErrorCode | null; message: string }): Error {
  return code === null ? new Error(message) : new UpshotError(code, message)
}
