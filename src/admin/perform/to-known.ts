import { ZodError } from 'zod'
import { UpshotError } from '../../core/errors.ts'

/** An error as every door tells it. One that nobody expected says nothing about itself. */
export function toKnown(error: unknown): UpshotError {
  if (error instanceof UpshotError) return error
  if (error instanceof ZodError) {
    const faults = error.issues.map(({ path, message }) => ({ at: path.join('.') || '(all)', fault: message }))
    return new UpshotError('invalid_request', 'The request does not have the form that this operation takes.', {
      details: { faults },
    })
  }
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : null
  if (status === 413) return new UpshotError('body_too_large', 'The body is larger than this operation takes.')
  if (status === 400) return new UpshotError('invalid_request', 'The body is not JSON, or was cut short.')
  if (status === 415) return new UpshotError('invalid_request', 'Send the body as application/json in UTF-8.')
  return new UpshotError('internal', 'The request failed by a fault of Upshot; its log has the error.')
}
