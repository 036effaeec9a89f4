import type { FileRef } from '../../core/service/file.ts'
import { type Call, type ClientParts, factsOf, noteAttempt, reasonOf } from '../call/call.ts'
import { type FilesError, ProtocolError } from '../errors.ts'
import { exchange, limitUntil, type Outgoing } from '../http/exchange.ts'
import type { HttpReply } from '../http/transport.ts'
import { toTransportError } from '../http/transport-error.ts'
import { toReplyError } from '../reply/reply-error.ts'
import { type DownloadUrl, fetchDownloadUrl } from './download-url.ts'

/** A URL with less time left than this is exchanged before it is used. */
const MIN_LEFT_MS = 30_000

/** What the download host answers once a URL has expired, or was withdrawn. */
const STALE_URL = new Set([401, 403, 404, 410])

/** Fresh URLs for one position of a file; then the answer is believed. */
const MAX_FRESH_URLS = 3

/** Where reading goes on, and by which marks the file is still the same. */
export interface Position {
  file: FileRef
  offset: number
  /** A strong ETag, or null. */
  etag: string | null
  /** The whole size, where it is known. */
  size: number | null
}

export type OpenedBytes =
  /** `offset` is where the body begins: as asked for, or 0. */
  | { kind: 'body'; offset: number; etag: string | null; size: number | null; reply: HttpReply }
  /** Nothing is left to read. */
  | { kind: 'complete' }

/** Keeps the URL of one download: fetched when needed, exchanged before it expires. */
export interface UrlHolder {
  current: DownloadUrl | null
}

/**
 * Opens the bytes of a file at a position. A URL that no longer works is exchanged a few times;
 * other failures are thrown.
 */
export async function openBytes(
  wire: ClientParts,
  call: Call,
  position: Position,
  urls: UrlHolder,
): Promise<OpenedBytes> {
  for (let fresh = 0; ; fresh++) {
    if (isExpiring(wire, urls.current)) urls.current = await fetchDownloadUrl(wire, call, position.file)
    const response = await request(wire, call, position, urls.current)
    if (!STALE_URL.has(response.status)) return readOpening(wire, call, position, response)
    urls.current = null
    if (fresh >= MAX_FRESH_URLS) throw replyError(wire, call, response)
    response.discard()
  }
}

function isExpiring(wire: ClientParts, url: DownloadUrl | null): url is null {
  if (url === null) return true
  return url.expiresAt !== null && url.expiresAt - wire.settings.clock.now() < MIN_LEFT_MS
}

async function request(wire: ClientParts, call: Call, position: Position, url: DownloadUrl): Promise<HttpReply> {
  const { settings } = wire
  const facts = factsOf(call)
  const startedAt = settings.clock.now()
  const moment = Math.min(startedAt + settings.attemptMs, call.deadlineAt)
  const { signal, done } = limitUntil(settings, { signal: call.signal, moment, facts })
  try {
    const response = await exchange(settings, toOutgoing(wire, position, url), { signal, facts })
    noteAttempt(wire, call, {
      status: response.status,
      startedAt,
      waitedMs: 0,
      reason: response.status < 300 ? 'ok' : 'refused',
    })
    return response
  } catch (error) {
    const failure = toTransportError(error, { signal, facts, secret: url.url })
    noteAttempt(wire, call, { status: null, startedAt, waitedMs: 0, reason: reasonOf(failure) })
    throw failure
  } finally {
    done()
  }
}

/** No key goes there: the URL itself is the permission, and the host may be anyone's. */
function toOutgoing(wire: ClientParts, { offset, etag }: Position, url: DownloadUrl): Outgoing {
  const range = offset > 0 ? { range: `bytes=${offset}-` } : {}
  const ifRange = offset > 0 && etag !== null ? { 'if-range': etag } : {}
  return {
    method: 'GET',
    url: new URL(url.url.reveal()),
    // A compressed transfer would count other bytes than the range does.
    headers: { accept: '*/*', 'accept-encoding': 'identity', ...range, ...ifRange },
    hosts: wire.settings.downloadHosts,
    transport: wire.settings.bytesTransport,
  }
}

function readOpening(wire: ClientParts, call: Call, position: Position, response: HttpReply): OpenedBytes {
  const { status, headers } = response
  const etag = strongEtag(headers.get('etag'))
  if (status === 200)
    return { kind: 'body', offset: 0, etag, size: wholeNumber(headers.get('content-length')), reply: response }
  if (status === 206 || status === 416) {
    const range = parseContentRange(headers.get('content-range'))
    if (status === 416) response.discard()
    if (isContinued(position, status, range, etag)) {
      return status === 416
        ? { kind: 'complete' }
        : { kind: 'body', offset: position.offset, etag: etag ?? position.etag, size: range.size, reply: response }
    }
    response.discard()
    throw new RangeMismatch('The server answers with another part of the file than was asked for.', factsOf(call))
  }
  throw replyError(wire, call, response)
}

/** The part on disk cannot be continued: reading starts again at the beginning. */
export class RangeMismatch extends ProtocolError {}

interface ContentRange {
  start: number | null
  size: number | null
}

function isContinued(position: Position, status: number, range: ContentRange, etag: string | null): boolean {
  const isSameFile = etag === null || position.etag === null || etag === position.etag
  const isSameSize = range.size === null || position.size === null || range.size === position.size
  const isInPlace = status === 416 ? range.size === position.offset : range.start === position.offset
  return isSameFile && isSameSize && isInPlace
}

function parseContentRange(value: string | null): ContentRange {
  const [, start, size] = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(value?.trim() ?? '') ?? []
  return { start: wholeNumber(start ?? null), size: wholeNumber(size ?? null) }
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** A weak ETag promises the same meaning, not the same bytes. */
function strongEtag(value: string | null): string | null {
  return value !== null && /^"[^"]*"$/.test(value) ? value : null
}

/** Its body is not read: a storage's error page may hold anything. */
function replyError(wire: ClientParts, call: Call, response: HttpReply): FilesError {
  response.discard()
  const { status, headers } = response
  if (status < 400) return new ProtocolError(`The download host answered ${status}.`, { ...factsOf(call), status })
  const context = { facts: factsOf(call), now: wire.settings.clock.now() }
  return toReplyError({ status, headers, parsed: { kind: 'unreadable' } }, context)
}
