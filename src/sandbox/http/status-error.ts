import { ApiError } from './api-error.ts'

const BY_STATUS = new Map([
  [401, { code: 'authentication_error', message: 'The API key is missing, unknown, expired or revoked.' }],
  [403, { code: 'permission_denied', message: "This key's scope does not cover the operation." }],
  [404, { code: 'resource_not_found', message: 'There is no such resource.' }],
  [429, { code: 'rate_limit_exceeded', message: 'Too many requests. Wait, then go on.' }],
])

/** The error that belongs to a status where nothing more is to be said. */
export function errorOfStatus(status: number): ApiError {
  const fallback =
    status < 500
      ? { code: 'invalid_request', message: 'The request is invalid.' }
      : { code: 'service_error', message: 'The storage service failed. Try again later.' }
  const { code, message } = BY_STATUS.get(status) ?? fallback
  return new ApiError(status, code, message)
}
