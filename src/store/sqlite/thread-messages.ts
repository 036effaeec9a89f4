import { type ErrorCode, UpshotError } from '../../core/errors.ts'
import type { StoreWriter } from './writer.ts'

/** A call on its way to the writer thread. */
export interface Call {
  number: number
  method: keyof StoreWriter | 'close'
  args: unknown[]
}

/** What became of it. */
export interface Answer {
  number: number
  value?: unknown
  error?: { code: ErrorCode | null; message: string }
}

/** Errors lose their class between threads, so they travel as code and message. */
export async function encodeAnswer(number: number, result: Promise<unknown>): Promise<Answer> {
  try {
    return { number, value: await result }
  } catch (error) {
    const code = error instanceof UpshotError ? error.code : null
    return { number, error: { code, message: error instanceof Error ? error.message : String(error) } }
  }
}

export function decodeError({ code, message }: NonNullable<Answer['error']>): Error {
  return code === null ? new Error(message) : new UpshotError(code, message)
}
