import { type ErrorCode, UpshotError } from '../../core/errors.ts'
import type { StoreWriter } from './writer.ts'

/** A call on its way to the writer thread. */
export interface Call {
  number: number
  method: keyof StoreWriter | 'close'
  args: unknown[]
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
