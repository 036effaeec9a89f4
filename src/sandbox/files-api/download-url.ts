import { createHmac, timingSafeEqual } from 'node:crypto'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'

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
export function readTicket(secret: string, url: { storage: string; id: string; expires: unknown; signature: unknown }) {
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
