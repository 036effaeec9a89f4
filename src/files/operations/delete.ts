import type { FileDetails, FileRef } from '../../core/service/file.ts'
import type { DeleteOptions, DeleteOutcome } from '../../core/service/files-api.ts'
import { type Call, factsOf } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { isProvenMissing, isTransient } from '../call/decide-resend.ts'
import { pauseBeforeResend } from '../call/pause-before-resend.ts'
import { sendRequest } from '../call/send-request.ts'
import { FilesError, InvalidRequestError, NotFoundError } from '../errors.ts'
import { entryUrl } from '../http/request-url.ts'
import { getDetails } from './get.ts'

/** Options of `delete`. */
export interface DeleteRequest extends DeleteOptions {
  /** `throw` turns a first 404 into a `NotFoundError`. Default `ok`: the outcome is `not_found`. */
  ifMissing?: 'ok' | 'throw'
  /** Allows deleting a folder with everything in it. Default false. */
  allowFolder?: boolean
}

/**
 * Deletes one entry for good. After an uncertain failure it reads the entry, and deletes it again
 * only when it is unchanged.
 */
export async function deleteFile(
  parts: ClientParts,
  call: Call,
  file: FileRef & { type?: 'file' | 'folder' },
  options: DeleteRequest,
): Promise<DeleteOutcome> {
  const url = entryUrl(parts.settings, file, '', factsOf(call))
  if (file.type === 'folder') requireFolderAllowed(call, options)
  if (parts.settings.dryRun) return { outcome: 'dry_run', proof: 'none' }
  if (options.expect !== undefined) {
    const seen = await inspect(parts, call, { file, options })
    if (seen !== 'unchanged') return afterFirstInspection(seen, options)
  }
  let doubt: FilesError | null = null
  for (let tries = 1; ; tries++) {
    try {
      await sendRequest(parts, call, { method: 'DELETE', url, resend: 'throttled' })
      return { outcome: 'deleted', proof: 'reply' }
    } catch (error) {
      const wasSeen = doubt !== null || options.expect !== undefined
      if (error instanceof NotFoundError) return afterNotFound(error, { wasSeen, options })
      if (!isDoubtful(error)) throw error
      doubt = error
    }
    await pauseBeforeResend(parts, call, { error: doubt, resend: 'any', tries, unreadable: 0 })
    const seen = await inspectAfter(parts, call, { file, options, doubt })
    if (seen === 'changed') return { outcome: 'changed', proof: 'verified' }
    if (seen !== 'unchanged') return { outcome: 'already_gone', proof: 'verified' }
  }
}

/** Whether the service may have deleted the entry in spite of this failure. */
function isDoubtful(error: unknown): error is FilesError {
  return error instanceof FilesError && isTransient(error) && error.name !== 'RateLimitError'
}

/** A `NotFoundError` is the service's proof that there is no entry. */
type Seen = 'unchanged' | 'changed' | NotFoundError

async function inspect(
  parts: ClientParts,
  call: Call,
  { file, options }: { file: FileRef; options: DeleteRequest },
): Promise<Seen> {
  try {
    const details = await getDetails(parts, call, file)
    if (details.type === 'folder') requireFolderAllowed(call, options)
    return isAsExpected(details, options.expect) ? 'unchanged' : 'changed'
  } catch (error) {
    if (isProvenMissing(error) && error instanceof NotFoundError) return error
    throw error
  }
}

/**
 * Reads the entry after an uncertain failure. When that fails too, the caller gets the first
 * failure, or the one that names a moment.
 */
async function inspectAfter(
  parts: ClientParts,
  call: Call,
  { file, options, doubt }: { file: FileRef; options: DeleteRequest; doubt: FilesError },
): Promise<Seen> {
  try {
    return await inspect(parts, call, { file, options })
  } catch (error) {
    const isOwn = call.signal.aborted || error instanceof InvalidRequestError
    throw isOwn || (error instanceof FilesError && error.retryAt !== null) ? error : doubt
  }
}

function isAsExpected(details: FileDetails, expect: DeleteOptions['expect'] = {}): boolean {
  const { path, size, modifiedAt } = expect
  const isSamePath = path === undefined || path === details.path
  const isSameSize = size === undefined || size === null || size === details.size
  const isSameTime =
    modifiedAt === undefined || modifiedAt === null || Date.parse(modifiedAt) === Date.parse(details.modifiedAt ?? '')
  return isSamePath && isSameSize && isSameTime
}

function afterFirstInspection(seen: 'changed' | NotFoundError, options: DeleteRequest): DeleteOutcome {
  return seen === 'changed' ? { outcome: 'changed', proof: 'verified' } : missing(seen, options)
}

/** A 404 proves a deletion only when the entry was seen before. */
function afterNotFound(
  error: NotFoundError,
  { wasSeen, options }: { wasSeen: boolean; options: DeleteRequest },
): DeleteOutcome {
  if (wasSeen && isProvenMissing(error)) return { outcome: 'already_gone', proof: 'verified' }
  return missing(error, options)
}

function missing(error: NotFoundError, options: DeleteRequest): DeleteOutcome {
  if (options.ifMissing === 'throw' || !isProvenMissing(error)) throw error
  return { outcome: 'not_found', proof: 'none' }
}

function requireFolderAllowed(call: Call, options: DeleteRequest): void {
  if (options.allowFolder === true) return
  throw new InvalidRequestError(
    'This is a folder. To delete it with everything in it, set `allowFolder: true`.',
    factsOf(call),
  )
}
