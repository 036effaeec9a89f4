import { UpshotError } from '../core/errors.ts'

/** True for a fault of the database that may pass, so that it is worth waiting for. */
export function mayPass(error: unknown): error is UpshotError {
  return error instanceof UpshotError && error.code === 'store_unavailable' && error.details.passes === true
}
