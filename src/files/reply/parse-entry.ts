import { isPlainObject } from '../../core/json.ts'
import type { FileDetails, FileEntry } from '../../core/service/file.ts'
import type { StorageName } from '../../core/service/storage.ts'
import { isMoment, isoTime, readIso } from '../../core/time.ts'
import { readCount, readText } from './parse-reply.ts'

/**
 * Parses an entry in either form; null without a usable id, since such an entry cannot be
 * requested. An entry without a path lies in `folder`.
 */
export function parseEntry(service: StorageName, raw: unknown, folder = ''): FileEntry | null {
  if (!isPlainObject(raw)) return null
  const id = Number.isSafeInteger(raw.id) ? String(raw.id) : raw.id
  if (typeof id !== 'string' || id === '') return null
  const type = readType(raw) ?? 'file'
  const path = rooted(readText(raw.path) ?? `${folder.replace(/\/$/, '')}/${readText(raw.name) ?? id}`)
  return {
    service,
    id,
    name: readText(raw.name) ?? path.slice(path.lastIndexOf('/') + 1),
    type,
    mimeType: type === 'folder' ? null : readText(raw.mimeType ?? raw.mime_type),
    // The alternative form gives folders a size of 0. Only an empty file has that size.
    size: type === 'folder' ? null : readCount(raw.size),
    path,
    createdAt: parseMoment(raw.createdAt ?? raw.created_at),
    modifiedAt: parseMoment(raw.modifiedAt ?? raw.modified_at),
  }
}

/** True for an entry whose id is a number that JSON.parse has rounded, or that is not whole. */
export function hasUnsafeId(raw: unknown): boolean {
  return isPlainObject(raw) && typeof raw.id === 'number' && !Number.isSafeInteger(raw.id)
}

/** The type of an entry as the service names it; null for an unknown name. */
export function readType(raw: unknown): 'file' | 'folder' | null {
  if (!isPlainObject(raw)) return null
  const type = String(raw.type).trim().toLowerCase()
  const mimeType = String(raw.mimeType ?? raw.mime_type).toLowerCase()
  if (/^(folder|directory|dir)$/.test(type) || /^inode\/directory$|[./]folder$/.test(mimeType)) return 'folder'
  return type === 'file' ? 'file' : null
}

/** Parses an entry with its details; null without an id. */
export function parseDetails(service: StorageName, raw: unknown): FileDetails | null {
  const entry = parseEntry(service, raw)
  if (entry === null || !isPlainObject(raw)) return null
  const shared = raw.shared
  return {
    ...entry,
    webViewLink: readText(raw.webViewLink ?? raw.web_view_link),
    thumbnailUrl: readText(raw.thumbnailUrl ?? raw.thumbnail_url),
    owner: readText(raw.owner),
    shared: typeof shared === 'boolean' ? shared : null,
  }
}

/** The items of a list reply, and what it says about the next page. */
interface ParsedItems {
  items: unknown[]
  /** A null text is the end; undefined without a word about tokens. */
  nextToken: { text: string | null } | 'unusable' | undefined
}

/** The items of a list reply: `data` itself or `data.files`. Null when neither is a list. */
export function parseItems(data: unknown): ParsedItems | null {
  if (Array.isArray(data)) return { items: data, nextToken: undefined }
  if (!isPlainObject(data) || !Array.isArray(data.files)) return null
  const isSaid = 'next_page_token' in data || 'nextPageToken' in data
  return {
    items: data.files,
    nextToken: isSaid ? parseToken(data.next_page_token ?? data.nextPageToken ?? null) : undefined,
  }
}

/** Anything but text and whole numbers could mean the end or not. */
function parseToken(token: unknown): ParsedItems['nextToken'] {
  if (Number.isSafeInteger(token)) return { text: String(token) }
  return token === null || typeof token === 'string' ? { text: readText(token) } : 'unusable'
}

/**
 * The download URL, and when it expires (epoch milliseconds; null where the service did not say).
 */
export function parseDownloadUrl(data: unknown): { url: string; expiresAt: number | null } | null {
  if (!isPlainObject(data)) return null
  const url = readText(data.downloadUrl ?? data.download_url)
  if (url === null || !URL.canParse(url)) return null
  const expiresAt = parseMoment(data.expiresAt ?? data.expires_at)
  return { url, expiresAt: expiresAt === null ? null : Date.parse(expiresAt) }
}

/**
 * ISO text in UTC from ISO text with any offset or none, epoch seconds or milliseconds; null for
 * anything else.
 */
export function parseMoment(value: unknown): string | null {
  const moment = typeof value === 'number' ? (Math.abs(value) < 1e11 ? value * 1_000 : value) : readIso(String(value))
  return isMoment(moment) ? isoTime(moment) : null
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`
}
