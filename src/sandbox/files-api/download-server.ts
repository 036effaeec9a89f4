import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Express, Request, Response } from 'express'
import express from 'express'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import type { Audit } from '../account/audit.ts'
import { replaceReply, spoilBody } from '../faults/apply-fault.ts'
import type { Faults } from '../faults/faults.ts'
import { ApiError, answerErrors, errorOfStatus } from '../http/api-error.ts'
import { requireHost, setDate } from '../http/guards.ts'
import { sendFile } from '../http/send-file.ts'
import type { Log } from '../options.ts'
import type { SandboxClock } from '../state/clock.ts'
import type { Entry } from '../storage/entry.ts'
import { fingerprintOf } from '../storage/fingerprint.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageIndex } from '../storage/storage-index.ts'

interface DownloadParts {
  index: StorageIndex
  storages: Record<StorageName, Storage>
  clock: SandboxClock
  faults: Faults
  audit: Audit
  log: Log
  downloadSecret: string
  hosts(): readonly string[]
}

/** The host of download URLs, on an origin of its own. An unexpired URL is all it asks for. */
export function downloadServer(parts: DownloadParts): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use(setDate(parts.clock), requireHost(parts.hosts))
  app.get('/download/:storage/:fileId', (request, response) => serve(parts, request, response))
  app.use(() => {
    throw new ApiError(404, 'invalid_request', 'There is nothing here.')
  })
  app.use(answerErrors(parts.log, { assumes: ['N10'] }))
  return app
}

async function serve(parts: DownloadParts, request: Request, response: Response): Promise<void> {
  if (request.get('authorization') !== undefined) parts.audit.noteKeyOnDownloadHost(parts.clock.now())
  const fault = parts.faults.strike('download')
  if (fault?.latencyMs) await wait(fault.latencyMs)
  if (fault && replaceReply(response, fault)) return
  if (fault?.status) throw errorOfStatus(fault.status)
  const found = findFile(parts, request)
  if (fault) spoilBody(response, fault)
  await sendEntry(request, response, found)
}

interface Found {
  entry: Entry
  path: string
}

/** Throws 403 unless the URL is ours and unexpired, 404 if the file is gone. */
function findFile(parts: DownloadParts, request: Request): Found {
  const { storage = '', fileId = '' } = request.params
  const { expires, signature } = request.query
  const ticket = readTicket(parts.downloadSecret, { storage: String(storage), id: String(fileId), expires, signature })
  if (!ticket) throw new ApiError(403, 'permission_denied', 'The download URL is invalid.')
  if (ticket.expiresAt <= parts.clock.now())
    throw new ApiError(403, 'permission_denied', 'This download URL has expired. Ask for a new one.')
  const entry = parts.index.byId(ticket.storage, ticket.id)
  if (!entry) throw new ApiError(404, 'resource_not_found', 'The file has been deleted.')
  return { entry, path: parts.storages[entry.storage].locate(entry) }
}

async function sendEntry(request: Request, response: Response, { entry, path }: Found): Promise<void> {
  const fingerprint = fingerprintOf(path)
  if (fingerprint?.type !== 'file') throw new ApiError(404, 'resource_not_found', 'The file has been deleted.')
  response.set('ETag', `"${createHash('sha256').update(fingerprint.text).digest('hex').slice(0, 32)}"`)
  response.set('X-Content-Type-Options', 'nosniff')
  response.set('Content-Security-Policy', "default-src 'none'; sandbox")
  response.set('X-Sandbox-Assumed', 'N10')
  response.attachment(entry.name)
  response.set('Content-Type', entry.mimeType ?? 'application/octet-stream')
  await sendFile(request, response, path)
}

/** How long a download URL stays valid, from section 2.2. */
export const URL_LIFETIME_MS = 15 * 60_000

interface DownloadTicket {
  storage: StorageName
  id: string
  /** Epoch milliseconds. */
  expiresAt: number
}

export function signTicket(secret: string, ticket: DownloadTicket): string {
  const path = `/download/${ticket.storage}/${encodeURIComponent(ticket.id)}`
  return `${path}?expires=${ticket.expiresAt}&signature=${signatureOf(secret, ticket)}`
}

/** The ticket of a URL signed with `secret`, expired or not. Null for any other URL. */
function readTicket(secret: string, url: { storage: string; id: string; expires: unknown; signature: unknown }) {
  const storage = STORAGES.find((name) => name === url.storage)
  if (!storage || typeof url.expires !== 'string' || typeof url.signature !== 'string') return null
  const ticket: DownloadTicket = { storage, id: url.id, expiresAt: Number(url.expires) }
  const expected = Buffer.from(signatureOf(secret, ticket))
  const given = Buffer.from(url.signature)
  return given.length === expected.length && timingSafeEqual(given, expected) ? ticket : null
}

function signatureOf(secret: string, ticket: DownloadTicket): string {
  const signed = JSON.stringify([ticket.storage, ticket.id, ticket.expiresAt])
  return createHmac('sha256', secret).update(signed).digest('hex')
}
