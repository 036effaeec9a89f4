import type { FileDetails, FileRef } from '../../core/service/file.ts'
import type { DeleteOptions, DeleteOutcome } from '../../core/service/files-api.ts'
import { type Call, type ClientParts, factsOf } from '../call/call.ts'
import { isProvenMissing, isTransient } from '../call/decide-resend.ts'
import { pauseBeforeResend } from '../call/pause-before-resend.ts'
import { sendRequest } from '../call/send-request.ts'
import { FilesError, InvalidRequestError, NotFoundError } from '../errors.ts'
import { entryUrl } from '../http/request-url.ts'
import { getDetails } from './get.ts'

export interface DeleteRequest extends DeleteOptions {
  /** What a first 404 is: an outcome, the default, or a `NotFoundError`. */
  ifMissing?: 'ok' | 'throw'
  /** Without it a folder, which would take all it holds along, is refused. */
  allowFolder?: boolean
}

/**
 * Deletes one entry for good. After a fault that leaves open whether the service carried it out, it
 * looks first: gone is `already_gone`, unchanged is deleted again, changed is left alone.
 */
export async function deleteFile(
  wire: ClientParts,
  call: Call,
  file: FileRef & { type?: 'file' | 'folder' },
  options: DeleteRequest,
): Promise<DeleteOutcome> {
  const url = entryUrl(wire.settings, file, '', factsOf(call))
  if (file.type === 'folder') requireFolderAllowed(call, options)
  if (wire.settings.dryRun) return { outcome: 'dry_run', proof: 'none' }
  if (options.expect !== undefined) {
    const seen = await look(wire, call, { file, options })
    if (seen !== 'unchanged') return afterFirstLook(seen, options)
  }
  let doubt: FilesError | null = null
  for (let tries = 1; ; tries++) {
    try {
      await sendRequest(wire, call, { method: 'DELETE', url, resend: 'throttled' })
      return { outcome: 'deleted', proof: 'reply' }
    } catch (error) {
      const wasSeen = doubt !== null || options.expect !== undefined
      if (error instanceof NotFoundError) return afterNotFound(error, { wasSeen, options })
      if (!isDoubtful(error)) throw error
      doubt = error
    }
    await pauseBeforeResend(wire, call, { error: doubt, resend: 'any', tries, unreadable: 0 })
    const seen = await lookAfter(wire, call, { file, options, doubt })
    if (seen === 'changed') return { outcome: 'changed', proof: 'verified' }
    if (seen !== 'unchanged') return { outcome: 'already_gone', proof: 'verified' }
  }
}

/** The service may have deleted the entry although the reply is a failure, or never came. */
function isDoubtful(error: unknown): error is FilesError {
  return error instanceof FilesError && isTransient(error) && error.name !== 'RateLimitError'
}

type Seen = 'unchanged' | 'changed' | NotFoundError

async function look(
  wire: ClientParts,
  call: Call,
  { file, options }: { file: FileRef; options: DeleteRequest },
): Promise<Seen> {
  try {
    const details = await getDetails(wire, call, file)
    if (details.type === 'folder') requireFolderAllowed(call, options)
    return isAsExpected(details, options.expect) ? 'unchanged' : 'changed'
  } catch (error) {
    if (isProvenMissing(error) && error instanceof NotFoundError) return error
    throw error
  }
}

/**
 * A look that fails leaves the doubt in place, so the fault that caused it is what the caller gets.
 */
async function lookAfter(
  wire: ClientParts,
  call: Call,
  { file, options, doubt }: { file: FileRef; options: DeleteRequest; doubt: FilesError },
): Promise<Seen> {
  try {
    return await look(wire, call, { file, options })
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

function afterFirstLook(seen: 'changed' | NotFoundError, options: DeleteRequest): DeleteOutcome {
  return seen === 'changed' ? { outcome: 'changed', proof: 'verified' } : missing(seen, options)
}

/** A 404 proves that the entry is gone only where it was seen before. */
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
    'This is a folder; deleting it with all it holds takes `allowFolder: true`.',
    factsOf(call),
  )
}
