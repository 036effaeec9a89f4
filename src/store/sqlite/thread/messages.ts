import { type ErrorCode, UpshotError } from '../../../core/errors.ts'
import type { Store } from '../../../core/store/store.ts'

/** A call of a store in another thread. */
export interface Call {
  number: number
  method: keyof Store
  args: unknown[]
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
