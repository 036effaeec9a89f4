import { type Call, factsOf, limitTime, noteAttempt, reasonOf } from '../../call/call.ts'
import type { ClientParts } from '../../call/client-parts.ts'
import { type FilesError, ProtocolError } from '../../errors.ts'
import { exchange, type HostReply, type Outgoing } from '../../http/exchange.ts'
import { type HttpReply, toTransportError } from '../../http/transport.ts'
import { toReplyError, typesOf } from '../../reply/reply-error.ts'
import { type Version, versionOf } from '../../version.ts'
import { type DownloadUrl, fetchDownloadUrl } from '../get.ts'
import { type KnownFile, requireFile } from './require-file.ts'

/** A URL that expires sooner is replaced before use. */
const MIN_LEFT_MS = 30_000

/** Statuses of a URL that has expired or was withdrawn. */
const STALE_URL = new Set([401, 403, 404, 410])

/** Fresh URLs per position; after them the refusal is final. */
const MAX_FRESH_URLS = 3

/** A position in a file, and what is known of the bytes before it. */
export interface Position {
  file: KnownFile
  offset: number
  /** Of the bytes before `offset`; null while there are none. */
  version: Version | null
  /** Bytes of the whole file; null while unknown. */
  size: number | null
}

export type OpenedBytes =
  /** The body begins at `offset`: the requested position, or 0. */
  | { kind: 'body'; offset: number; version: Version; size: number | null; reply: HttpReply }
  /** The position is the end of the file. */
  | { kind: 'complete'; version: Version }

/** The URL of one download; null before the first, and after one was refused. */
export interface UrlHolder {
  current: DownloadUrl | null
}

/** Opens the bytes of a file at a position. An expired URL is replaced a few times. */
export async function openBytes(
  parts: ClientParts,
  call: Call,
  position: Position,
  urls: UrlHolder,
): Promise<OpenedBytes> {
  for (let fresh = 0; ; fresh++) {
    if (isExpiring(parts, urls.current)) urls.current = await fetchDownloadUrl(parts, call, position.file)
    const response = await request(parts, call, position, urls.current)
    if (!STALE_URL.has(response.status)) return readOpening(parts, call, position, response)
    urls.current = null
    if (fresh >= MAX_FRESH_URLS) throw replyError(parts, call, response)
    response.discard()
  }
}

function isExpiring(parts: ClientParts, url: DownloadUrl | null): url is null {
  if (url === null) return true
  return url.expiresAt !== null && url.expiresAt - parts.settings.clock.now() < MIN_LEFT_MS
}

async function request(parts: ClientParts, call: Call, position: Position, url: DownloadUrl): Promise<HostReply> {
  const { settings } = parts
  const facts = factsOf(call)
  const startedAt = settings.clock.now()
  const { signal, done } = limitTime(parts, call, settings.attemptMs)
  try {
    const response = await exchange(settings, toOutgoing(parts, position, url), { signal, facts })
    noteAttempt(parts, call, {
      status: response.status,
      startedAt,
      waitedMs: 0,
      reason: response.status < 300 ? 'ok' : 'refused',
    })
    return response
  } catch (error) {
    const failure = toTransportError(error, { signal, facts, secret: url.url })
    noteAttempt(parts, call, { status: null, startedAt, waitedMs: 0, reason: reasonOf(failure) })
    throw failure
  } finally {
    done()
  }
}

/** No key is sent: the URL itself is the permission, and the host may belong to anyone. */
function toOutgoing(parts: ClientParts, { offset, version }: Position, url: DownloadUrl): Outgoing {
  const range = offset > 0 ? { range: `bytes=${offset}-` } : {}
  const ifRange = offset > 0 && version?.condition ? { 'if-range': version.condition } : {}
  return {
    method: 'GET',
    url: new URL(url.url.reveal()),
    // The range counts bytes of the file, not of a compressed transfer.
    headers: { accept: '*/*', 'accept-encoding': 'identity', ...range, ...ifRange },
    hosts: parts.settings.downloadHosts,
    transport: parts.settings.bytesTransport,
  }
}

function readOpening(parts: ClientParts, call: Call, position: Position, response: HostReply): OpenedBytes {
  const { status, headers } = response
  const version = versionOf(headers, response.host)
  if (status !== 200 && status !== 206 && status !== 416) throw replyError(parts, call, response)
  if (status === 416) response.discard()
  else requireReadable(call, position, response)
  if (status === 200)
    return { kind: 'body', offset: 0, version, size: wholeNumber(headers.get('content-length')), reply: response }
  const range = parseContentRange(headers.get('content-range'))
  if (isContinued(position, status, range, wholeNumber(headers.get('content-length')))) {
    return status === 416
      ? { kind: 'complete', version }
      : { kind: 'body', offset: position.offset, version, size: range.size, reply: response }
  }
  response.discard()
  throw new RangeMismatch('The server sent another part of the file than the one requested.', factsOf(call))
}

/** Refuses a body that is not the file, or whose end nobody could tell from a broken connection. */
function requireReadable(call: Call, { file, size }: Position, response: HttpReply): void {
  const { status, headers } = response
  const isFramed = headers.has('content-length') || headers.has('transfer-encoding')
  const range = parseContentRange(headers.get('content-range'))
  try {
    requireFile(response, file, { ...factsOf(call), status })
    if (size !== null || (status === 200 ? isFramed : range.size !== null)) return
    throw new ProtocolError('Neither the service nor the download host says how long the file is.', factsOf(call))
  } catch (error) {
    response.discard()
    throw error
  }
}

/** The server's range does not continue the part: reading starts again at 0. */
export class RangeMismatch extends ProtocolError {}

interface ContentRange {
  start: number | null
  /** Of its last byte. */
  end: number | null
  size: number | null
}

function isContinued({ size, offset }: Position, status: number, range: ContentRange, length: number | null): boolean {
  if (range.size !== null && size !== null && range.size !== size) return false
  if (status === 416) return range.size === offset
  const isWhole = length === null || range.end === null || length === range.end - offset + 1
  return range.start === offset && isWhole
}

function parseContentRange(value: string | null): ContentRange {
  const [, from, last, all] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(value?.trim() ?? '') ?? []
  const [start, end, size] = [from, last, all].map((text) => wholeNumber(text ?? null))
  return { start: start ?? null, end: end ?? null, size: size ?? null }
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** The error of a download host's reply. The body is not read: it may hold anything. */
function replyError(parts: ClientParts, call: Call, response: HttpReply): FilesError {
  response.discard()
  const { status, headers } = response
  if (status < 400) {
    const facts = { ...factsOf(call), status, ...typesOf(headers) }
    return new ProtocolError(`The download host answered ${status}.`, facts)
  }
  const context = { facts: factsOf(call), now: parts.settings.clock.now(), isHost: true }
  return toReplyError({ status, headers, parsed: { kind: 'unreadable' } }, context)
}
