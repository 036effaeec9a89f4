import { randomUUID } from 'node:crypto'
import { askOwnDelete } from '../../core/access/own-delete.ts'
import type { FileDetails, FileRef } from '../../core/service/file.ts'
import type { DeleteOptions, DeleteOutcome } from '../../core/service/files-api.ts'
import type { Reply } from '../call/attempt.ts'
import { type Call, factsOf } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { isProvenMissing, isTransient } from '../call/decide-resend.ts'
import { pauseBeforeResend } from '../call/pause-before-resend.ts'
import { giveBack, sendRequest } from '../call/send-request.ts'
import {
  FilesError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  ProtocolError,
  ServerError,
} from '../errors.ts'
import { entryUrl } from '../http/request-url.ts'
import { readType } from '../reply/parse-entry.ts'
import { readDetails } from './get.ts'

/** Options of `delete`. */
export interface DeleteRequest extends DeleteOptions {
  /** `throw` turns a first 404 into a `NotFoundError`. Default `ok`: the outcome is `not_found`. */
  ifMissing?: 'ok' | 'throw'
  /**
   * True: an earlier call, of a process that died perhaps, may have deleted it. An entry that is
   * missing is then `already_gone`. Default false.
   */
  mayBeGone?: boolean
  /** The state in which a person approved it, which has to hold beside `expect`. */
  approved?: DeleteOptions['expect']
  /** Called before each request that deletes, after its wait for the limit; it may throw. */
  beforeSend?: () => Promise<void>
  /** Called with the entry as each look before a request finds it. */
  onSeen?: (entry: FileDetails) => void
}

/** A look that began longer ago does not count: the process may have been frozen since. */
const LOOK_COUNTS_MS = 3_000

/**
 * Deletes one entry for good, after a look at it. After an uncertain failure it looks again, and
 * deletes only what is unchanged.
 */
export async function deleteFile(
  parts: ClientParts,
  call: Call,
  file: FileRef & { type?: 'file' | 'folder' },
  options: DeleteRequest,
): Promise<DeleteOutcome> {
  try {
    return await lookAndDelete(parts, call, file, options)
  } finally {
    // Without its store, the start is lost for a minute.
    await giveBack(call).catch(() => {})
  }
}

async function lookAndDelete(
  parts: ClientParts,
  call: Call,
  file: FileRef & { type?: 'file' | 'folder' },
  options: DeleteRequest,
): Promise<DeleteOutcome> {
  const url = entryUrl(parts.settings, file, '', factsOf(call))
  if (file.type === 'folder') requireAllowed(call, options, 'This is a folder.')
  if (parts.settings.dryRun) return { outcome: 'dry_run', proof: 'none' }
  askOwnDelete(url.host)
  const first = await inspect(parts, call, { file, options, expect: [options.expect, options.approved], pair: 'look' })
  if (first instanceof NotFoundError) return missing(first, options)
  if (!first.isAsExpected) return { outcome: 'changed', proof: 'verified' }
  for (let tries = 1; ; tries++) {
    const sent = await sendDelete(parts, call, { file, url, options, seen: first.details })
    if ('outcome' in sent) return sent
    const { doubt } = sent
    if (doubt === null) return awaitEnd(parts, call, { file, options, seen: first.details })
    const isLast = !isTransient(doubt) || (tries >= call.policy.attempts && doubt.retryAt === null)
    if (!isLast) await pauseBeforeResend(parts, call, { error: doubt, tries })
    const pair = isLast ? undefined : 'look'
    const seen = await inspectAfter(parts, call, { file, options, expect: [first.details], pair, doubt })
    if (seen instanceof NotFoundError) return { outcome: 'already_gone', proof: 'verified' }
    if (!seen.isAsExpected) return { outcome: 'changed', proof: 'verified' }
    if (isLast) throw doubt
  }
}

interface Sending extends Pick<Inspection, 'file' | 'options'> {
  url: URL
  /** The entry as the first look found it. */
  seen: FileDetails
}

/** The outcome, or the failure that leaves it in doubt; null: an empty reply tells nothing. */
async function sendDelete(
  parts: ClientParts,
  call: Call,
  sending: Sending,
): Promise<DeleteOutcome | { doubt: FilesError | null }> {
  try {
    const reply = await requestDelete(parts, call, sending)
    if ('outcome' in reply) return reply
    return isDone(reply) ? { outcome: 'deleted', proof: 'reply' } : { doubt: null }
  } catch (error) {
    // Some services say so to a key that may not delete: the look before has found the entry. Or an
    // earlier request deletes it just now.
    if (isProvenMissing(error)) return { doubt: contradiction(call, error) }
    if (!isDoubtful(error)) throw error
    return { doubt: error }
  }
}

/** Thrown before a delete whose look no longer counts. */
class LateLook extends Error {}

/** Sends the delete. Where its look is too old, and a new one shows a change, gives the outcome. */
async function requestDelete(
  parts: ClientParts,
  call: Call,
  { file, url, options, seen }: Sending,
): Promise<Reply | DeleteOutcome> {
  const lookedAt = call.kept?.at ?? Infinity
  const beforeSend = async () => {
    await options.beforeSend?.()
    if (parts.settings.clock.now() - lookedAt > LOOK_COUNTS_MS) throw new LateLook()
  }
  // It goes before the looks of other calls: the entry may change while it waits for the limit.
  const request = { method: 'DELETE', url, once: true, priority: 'interactive', pair: 'act' } as const
  try {
    return await sendRequest(parts, call, { ...request, beforeSend })
  } catch (error) {
    if (!(error instanceof LateLook)) throw error
  }
  // Once: a service may need longer than that for each look.
  const again = await inspect(parts, call, { file, options, expect: [seen], pair: 'look' })
  if (again instanceof NotFoundError) return { outcome: 'already_gone', proof: 'verified' }
  if (!again.isAsExpected) return { outcome: 'changed', proof: 'verified' }
  return sendRequest(parts, call, { ...request, beforeSend: options.beforeSend })
}

function contradiction(call: Call, { status, code, requestId }: NotFoundError): ProtocolError {
  const message = `The service answered the delete with ${status} ${code}, although it had just shown the entry.`
  return new ProtocolError(message, { ...factsOf(call), status, code, requestId, retryable: true })
}

/** True for a reply that says that the entry is gone: by its body, or by the status 204. */
function isDone({ status, hasFlag, data }: Reply): boolean {
  return status !== 202 && (status === 204 || hasFlag || data !== null)
}

/**
 * Looks until the entry is gone, as often as a request is tried. A 202 says that the service will
 * delete it, and an empty reply says nothing.
 */
async function awaitEnd(
  parts: ClientParts,
  call: Call,
  { file, options, seen }: Omit<Sending, 'url'>,
): Promise<DeleteOutcome> {
  const message = 'The service has taken the delete, and the entry is still there. Ask again later.'
  for (let tries = 1; ; tries++) {
    const look = await inspect(parts, call, { file, options, expect: [seen] })
    if (look instanceof NotFoundError) return { outcome: 'deleted', proof: 'verified' }
    if (!look.isAsExpected) return { outcome: 'changed', proof: 'verified' }
    const error = new ServerError(message, { ...factsOf(call), retryable: true })
    await pauseBeforeResend(parts, call, { error, tries })
  }
}

/**
 * Whether the key may delete in a storage. It asks for the deletion of a random id, which no entry
 * has.
 */
export async function canDelete(parts: ClientParts, call: Call): Promise<boolean> {
  const file = { service: call.service, id: `upshot-probe-${randomUUID()}` }
  const url = entryUrl(parts.settings, file, '', factsOf(call))
  try {
    await sendRequest(parts, call, { method: 'DELETE', url })
    return true
  } catch (error) {
    if (error instanceof PermissionError) return false
    if (isProvenMissing(error)) return true
    throw error
  }
}

/**
 * Whether this failure needs another look: the service may have deleted the entry. After a 429, it
 * may change during the pause.
 */
function isDoubtful(error: unknown): error is FilesError {
  // A reply that cannot be read may follow a delete, even where no other attempt could read it.
  if (error instanceof ProtocolError) return true
  return error instanceof FilesError && isTransient(error)
}

/** A `NotFoundError` is the service's proof that there is no entry. */
type Seen = { details: FileDetails; isAsExpected: boolean } | NotFoundError

interface Inspection {
  file: FileRef
  options: DeleteRequest
  expect: readonly DeleteOptions['expect'][]
  /** `look`: a delete follows where the entry is as expected. */
  pair?: 'look' | undefined
}

async function inspect(parts: ClientParts, call: Call, { file, options, expect, pair }: Inspection): Promise<Seen> {
  try {
    const { details, raw } = await readDetails(parts, call, file, pair)
    options.onSeen?.(details)
    if (details.type === 'folder') requireAllowed(call, options, 'This is a folder.')
    // An unknown word may mean a folder, too.
    if (readType(raw) === null) requireAllowed(call, options, 'The service does not say that this is a file.')
    return { details, isAsExpected: expect.every((each) => isAsExpected(details, each)) }
  } catch (error) {
    if (isProvenMissing(error)) return error
    throw error
  }
}

/**
 * Reads the entry after an uncertain failure. When that fails too, the caller gets the first
 * failure. It gets the second where that names a moment, or alone may pass.
 */
async function inspectAfter(
  parts: ClientParts,
  call: Call,
  { doubt, ...inspection }: Inspection & { doubt: FilesError },
): Promise<Seen> {
  try {
    return await inspect(parts, call, inspection)
  } catch (error) {
    const isOwn = call.signal.aborted || error instanceof InvalidRequestError
    const isPassing = error instanceof FilesError && (error.retryAt !== null || (error.retryable && !doubt.retryable))
    throw isOwn || isPassing ? error : doubt
  }
}

function isAsExpected(details: FileDetails, expect: DeleteOptions['expect'] | null): boolean {
  const { path, size, modifiedAt } = expect ?? {}
  const isSamePath = (path ?? details.path) === details.path
  const isSameSize = (size ?? details.size) === details.size
  const isSameTime =
    (modifiedAt ?? null) === null || Date.parse(modifiedAt ?? '') === Date.parse(details.modifiedAt ?? '')
  return isSamePath && isSameSize && isSameTime
}

/** A first 404 proves a deletion only where one was asked for before. */
function missing(error: NotFoundError, { ifMissing, mayBeGone }: DeleteRequest): DeleteOutcome {
  if (mayBeGone === true) return { outcome: 'already_gone', proof: 'verified' }
  if (ifMissing === 'throw') throw error
  return { outcome: 'not_found', proof: 'none' }
}

function requireAllowed(call: Call, { allowFolder }: DeleteRequest, why: string): void {
  if (allowFolder === true) return
  throw new InvalidRequestError(`${why} To delete it with everything in it, set \`allowFolder: true\`.`, factsOf(call))
}
