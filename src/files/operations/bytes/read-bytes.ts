import { type Call, factsOf } from '../../call/call.ts'
import type { ClientParts } from '../../call/client-parts.ts'
import { pauseBeforeResend } from '../../call/pause-before-resend.ts'
import { ConnectionError, type FilesError, ProtocolError } from '../../errors.ts'
import { readChunks } from '../../http/read-body.ts'
import { toTransportError } from '../../http/transport.ts'
import { contradicts, isOtherVersion, isProvable, isProvenSame, type Version } from '../../version.ts'
import { type OpenedBytes, openBytes, type Position, RangeMismatch, type UrlHolder } from './open-bytes.ts'
import { isSameVersion, lookAgain } from './require-file.ts'

type BytesRead =
  /**
   * The next chunk begins here: at 0, or where the one before ended. `size` is the whole file's.
   */
  | { kind: 'from'; offset: number; version: Version; size: number | null }
  /** The bytes are valid until the next chunk is requested. */
  | { kind: 'chunk'; bytes: Uint8Array }

/** The bytes are another version of the file than the one that was being read. */
class VersionMismatch extends ProtocolError {}

/** The file is longer or shorter than the service said. */
class SizeMismatch extends ProtocolError {}

/** A file that is being read, over several connections. */
interface Reading {
  position: Position
  /** The farthest offset so far. */
  furthest: number
  /** False: the reader has passed bytes on, so that reading cannot begin anew. */
  mayRestart: boolean
  /** True while bytes of two replies are joined that only a look can prove to be one version. */
  isDoubtful: boolean
  urls: UrlHolder
}

/**
 * The bytes of a file from a position to its end, over as many connections as needed. Throws
 * `ProtocolError` when the size differs. Bytes of two versions are never joined: see decision 38.
 */
export async function* readBytes(
  parts: ClientParts,
  call: Call,
  start: Position,
  { mayRestart = true }: { mayRestart?: boolean } = {},
): AsyncGenerator<BytesRead> {
  const reading: Reading = {
    position: start,
    furthest: start.offset,
    mayRestart,
    isDoubtful: false,
    urls: { current: null },
  }
  for (let tries = 1; ; tries++) {
    try {
      yield* readOnce(parts, call, reading)
      if (reading.isDoubtful) await requireSameVersion(parts, call, reading.position)
      return
    } catch (error) {
      const failure = toTransportError(error, { signal: call.signal, facts: factsOf(call) })
      // New bytes restart the count of tries.
      if (reading.position.offset > reading.furthest) tries = 0
      reading.furthest = Math.max(reading.furthest, reading.position.offset)
      reading.position = await nextPosition(parts, call, { failure, reading, tries: Math.max(1, tries) })
    }
  }
}

/** The bytes that one connection gives; moves the position with them. */
async function* readOnce(parts: ClientParts, call: Call, reading: Reading): AsyncGenerator<BytesRead> {
  const { position } = reading
  // A look before the request, so that a large file that has changed is not sent in vain.
  const isUnproven = position.version === null || !isProvable(position.version)
  if (isJoining(reading, position.offset) && isUnproven) await requireSameVersion(parts, call, position)
  const opened = await openBytes(parts, call, position, reading.urls)
  try {
    position.version = await joinVersions(parts, call, reading, opened)
    if (opened.kind === 'complete') return
    position.offset = opened.offset
    position.size = agreeOnSize(call, position, opened.size)
  } catch (error) {
    if (opened.kind === 'body') opened.reply.discard()
    throw error
  }
  yield { kind: 'from', offset: opened.offset, version: position.version, size: position.size }
  const patience = { clock: parts.settings.clock, stallMs: parts.settings.stallMs, facts: factsOf(call) }
  for await (const bytes of readChunks(opened.reply, patience)) {
    position.offset += bytes.byteLength
    requireRoom(call, position)
    yield { kind: 'chunk', bytes }
    opened.reply.release(bytes)
    // Set after the consumer is done: its time does not count against the server.
    call.deadlineAt = parts.settings.clock.now() + call.totalMs
  }
  if (position.size === null || position.offset === position.size) return
  throw new ConnectionError('The connection ended before the file did.', factsOf(call))
}

/** Whether bytes from `offset` on are to continue bytes that the reader keeps. */
function isJoining({ mayRestart, furthest }: Reading, offset: number): boolean {
  return offset > 0 || (!mayRestart && furthest > 0)
}

/**
 * The version of the bytes so far and of the reply. Equal strong ETags of one host prove that it is
 * one. Without them, no mark may have changed, and no size or date, now and when all is read.
 */
async function joinVersions(parts: ClientParts, call: Call, reading: Reading, opened: OpenedBytes): Promise<Version> {
  const { position } = reading
  const { version: before } = position
  const { kind, version: now } = opened
  if (before === null || (kind === 'body' && !isJoining(reading, opened.offset))) {
    reading.isDoubtful = false
    return now
  }
  if (kind === 'body' ? isOtherVersion(before, now) : contradicts(before, now)) throw versionMismatch(call)
  if (isProvenSame(before, now)) return before
  if (isProvable(before) || kind === 'complete') await requireSameVersion(parts, call, position)
  reading.isDoubtful = true
  // Nothing but a look proves these bytes from here on, in a later process, too.
  return { ...before, host: null }
}

async function requireSameVersion(parts: ClientParts, call: Call, { file }: Position): Promise<void> {
  if (!(await isSameVersion(parts, call, file))) throw versionMismatch(call)
}

function versionMismatch(call: Call): VersionMismatch {
  return new VersionMismatch('The file changed while it was being read.', factsOf(call))
}

/** The position of the next attempt, after its pause. Throws the failure when there is none. */
async function nextPosition(
  parts: ClientParts,
  call: Call,
  { failure, reading, tries }: { failure: FilesError; reading: Reading; tries: number },
): Promise<Position> {
  const { position, mayRestart, furthest } = reading
  const canBeginAnew = mayRestart || furthest === 0
  if (failure instanceof RangeMismatch && position.offset > 0) {
    // A reader that cannot begin anew skips what it has, and the version still has to agree.
    return { ...position, offset: 0, version: canBeginAnew ? null : position.version, size: position.file.size }
  }
  const isOther = failure instanceof VersionMismatch || failure instanceof SizeMismatch
  if (isOther && !canBeginAnew) throw failure
  if (!(failure instanceof VersionMismatch)) {
    await pauseBeforeResend(parts, call, { error: failure, tries })
  }
  if (!isOther) return position
  const file = await lookAgain(parts, call, position.file)
  return { file, offset: 0, version: null, size: file.size }
}

/** Throws when the file was announced with another size before. */
function agreeOnSize(call: Call, { file, size: known }: Position, announced: number | null): number | null {
  if (known === null || announced === null || known === announced) return known ?? announced
  const message = `The file should have ${known} bytes and now has ${announced}. List it again.`
  throw new SizeMismatch(message, { ...factsOf(call), retryable: file.isLookedUp })
}

function requireRoom(call: Call, { file, offset, size }: Position): void {
  if (size === null || offset <= size) return
  const message = `The server sent more than the ${size} bytes that it announced.`
  throw new SizeMismatch(message, { ...factsOf(call), retryable: file.isLookedUp })
}
