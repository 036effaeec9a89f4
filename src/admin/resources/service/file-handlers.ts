import { posix } from 'node:path'
import { includesRole } from '../../../core/access/role.ts'
import { hashSecret } from '../../../core/access/token.ts'
import { UpshotError } from '../../../core/errors.ts'
import { randomWord } from '../../../core/ids.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { FileDetails, FileEntry } from '../../../core/service/file.ts'
import { findStorage, STORAGES, type StorageName, type StorageSpellings } from '../../../core/service/storage.ts'
import { isoTime, momentOf } from '../../../core/time.ts'
import type { Caller } from '../../access/caller.ts'
import type { FILE_ROUTES } from '../../contract/resources/service/files.ts'
import type { Handlers } from '../../perform/handler.ts'
import { compareFiles } from '../../queries/compare-files.ts'
import { decodePosition, encodePosition } from '../../queries/read-page.ts'
import type { ResourceParts } from '../parts.ts'

interface Download {
  account: string
  file: FileDetails
  from: number
}

/** Targets of one delete that the audit log names. */
const NAMED = 100

type FileRoute = keyof typeof FILE_ROUTES
type Place = { account: string; service: StorageName }
type FindPlace = (account: string, storage: string) => Promise<Place>

/** Files of the service: a look, a download by ticket, and a delete. See decision 69. */
export function fileHandlers(parts: ResourceParts): Handlers<FileRoute> {
  const { store, surroundings } = parts
  const findPlace: FindPlace = async (account, name) => {
    const known = account === DEFAULT_ACCOUNT ? surroundings.defaultAccount() : await store.findAccount(account)
    if (known === null) throw new UpshotError('not_found', `There is no account "${account}".`)
    return { account, service: requireStorage(name, known.storages) }
  }
  return { ...fileReads(parts, findPlace), ...fileDownloads(parts, findPlace), ...fileActions(parts, findPlace) }
}

type FileRead = Exclude<Extract<FileRoute, `GET ${string}`>, 'GET /downloads/:ticket'>

function fileReads({ surroundings: { files } }: ResourceParts, findPlace: FindPlace): Handlers<FileRead> {
  return {
    async 'GET /files/:storage'({ params, query, signal }) {
      const { account, service } = await findPlace(query.account, params.storage)
      const { page, ...token } = readPlace(query.after)
      const asked = { service, path: query.path, limit: query.limit, sort: 'name', page, ...token }
      const { items, nextPage, nextToken, totalItems } = await files.ask(account, (api) => api.list(asked, { signal }))
      const isLast = nextPage === null && nextToken === null
      const next = isLast ? null : encodePosition(`${nextPage ?? page + 1}:${nextToken ?? ''}`)
      return { items: items.map(describeFile), next, total: totalItems }
    },
    async 'GET /files/:storage/snapshot'({ params, query, signal }) {
      const { account, service } = await findPlace(query.account, params.storage)
      const folder = { service, path: query.path, recursive: query.recursive !== undefined }
      const options = { max: query.limit, verify: query.verify !== undefined, signal }
      const { items, reason } = await files.ask(account, (api) => api.snapshot(folder, options))
      return { items: items.map(describeFile), reason }
    },
    async 'GET /files/:storage/find'({ params, query, signal }) {
      const { account, service } = await findPlace(query.account, params.storage)
      const entry = await files.ask(account, (api) => api.find({ service, path: query.path }, { signal }))
      if (entry !== null) return describeFile(entry)
      throw new UpshotError('not_found', `There is nothing at ${service}:${query.path}.`, {
        fix: `List the parent folder: upshot files ls ${service}:${posix.dirname(query.path)}`,
      })
    },
    async 'GET /files/:storage/:id'({ params, query, signal }) {
      const { account, service } = await findPlace(query.account, params.storage)
      const found = await files.ask(account, (api) => api.get({ service, id: params.id }, { signal }))
      const { owner, shared, ...entry } = found
      return { ...describeFile(entry), owner, shared }
    },
  }
}

type FileDownload = 'POST /files/:storage/:id/ticket' | 'GET /downloads/:ticket'

function fileDownloads({ surroundings: { files } }: ResourceParts, findPlace: FindPlace): Handlers<FileDownload> {
  const tickets = new Tickets<Download>()
  return {
    async 'POST /files/:storage/:id/ticket'({ params, body, record, now, signal }) {
      const { account, service } = await findPlace(body.account, params.storage)
      const file = await files.ask(account, (api) => api.get({ service, id: params.id }, { signal }))
      if (file.type === 'folder') throw new UpshotError('invalid_request', `${file.path} is a folder.`)
      await record(`${service}:${params.id}`, { account, path: file.path, bytes: file.size })
      const { ticket, expiresAt } = tickets.issue({ account, file, from: body.from }, now)
      return { ticket, expiresAt: isoTime(expiresAt) }
    },
    async 'GET /downloads/:ticket'({ params, now, signal }) {
      const { account, file, from } = tickets.redeem(params.ticket, now)
      const chunks = files.stream(account, file, { from, signal })
      const size = file.size === null ? null : Math.max(0, file.size - from)
      return { type: 'application/octet-stream', name: file.name, size, chunks }
    },
  }
}

function fileActions(
  { surroundings }: ResourceParts,
  findPlace: FindPlace,
): Handlers<Exclude<FileRoute, FileRead | FileDownload>> {
  const { files } = surroundings
  return {
    async 'POST /files/:storage/:id/url'({ params, body, record, signal }) {
      const { account, service } = await findPlace(body.account, params.storage)
      await record(`${service}:${params.id}`, { account })
      const found = await files.ask(account, (api) => api.downloadUrl({ service, id: params.id }, { signal }))
      return { url: found.url.reveal(), expiresAt: momentOf(found.expiresAt) }
    },
    async 'POST /files/diff'({ body, record, ...work }) {
      const { account, one, other, ...options } = body
      const places = [await findPlace(account, one.storage), await findPlace(account, other.storage)] as const
      await record(null, { one: `${one.storage}:${one.path}`, other: `${other.storage}:${other.path}` })
      const folders = [
        { ...places[0], path: one.path },
        { ...places[1], path: other.path },
      ] as const
      return files.ask(account, (api) => compareFiles(api, folders, { ...options, ...work }))
    },
    async 'POST /files/delete'({ body, caller, operator, record, ...work }) {
      const { files: seen, count } = body
      const { account } = await findPlace(body.account, STORAGES[0])
      requireRights(caller, { account, keeper: surroundings.defaultAccount().keeper })
      requireCount(seen.length, count, surroundings.guard()?.workflow.deletes?.perRun ?? Number.POSITIVE_INFINITY)
      const targets = seen.slice(0, NAMED).map(({ service, id }) => `${service}:${id}`)
      const parameters = { count: seen.length, account, files: targets }
      const target = seen.length === 1 ? (targets[0] ?? null) : null
      if (seen.length > 0) await record(target, parameters)
      const { actor, reason } = operator
      const removals = await files.remove({ account, files: seen, actor, reason }, work)
      const counts: Record<string, number> = {}
      for (const { outcome } of removals) counts[outcome] = (counts[outcome] ?? 0) + 1
      return {
        counts,
        files: removals.map(({ file: { service, id, path, size }, ...rest }) => ({ service, id, path, size, ...rest })),
      }
    },
  }
}

/** Many files need their number, so that nobody deletes more than was looked at. */
function requireCount(found: number, count: number | undefined, most: number): void {
  if (count === undefined ? found <= most : count === found) return
  const given = count === undefined ? 'no number was given' : `the number given is ${count}`
  const files = found === 1 ? 'This is 1 file' : `These are ${found} files`
  throw new UpshotError('needs_confirmation', `${files}, and ${given}. Nothing was deleted.`, {
    fix: `Look at them again. Their number is --count ${found}, or \`count\`; more than ${most} need it.`,
  })
}

function requireStorage(name: string, spellings: StorageSpellings): StorageName {
  const known = findStorage(name, spellings)
  if (known !== null) return known
  throw new UpshotError('not_found', `There is no storage "${name}".`, { fix: `Use one of: ${STORAGES.join(', ')}.` })
}

/** A file of the real service is gone for good: that needs an admin. */
function requireRights({ role, name }: Caller, { account, keeper }: { account: string; keeper: string }): void {
  const isSandbox = account === DEFAULT_ACCOUNT && keeper === 'sandbox'
  if (isSandbox || includesRole(role, 'admin')) return
  throw new UpshotError('forbidden', `A delete in the account "${account}" needs the role admin; ${name} has ${role}.`)
}

function readPlace(after: string | undefined): { page: number; pageToken?: string } {
  const [, page = '1', token = ''] = /^(\d+):(.*)$/s.exec(decodePosition(after, /^\d{1,9}:/) ?? '') ?? []
  return { page: Number(page), ...(token === '' ? {} : { pageToken: token }) }
}

function describeFile({ service, id, name, type, mimeType, size, path, createdAt, modifiedAt }: FileEntry) {
  return { service, id, name, type, mimeType, size, path, createdAt, modifiedAt }
}

/** How long a ticket is good for. */
const TICKET_MS = 60_000
/** Tickets that are open at once; a new one takes the place of the oldest. */
const MAX_OPEN = 1_000

interface Open<Subject> {
  subject: Subject
  expiresAt: number
}

/**
 * Tickets of this process: each is good once, for a minute. It stands for a login where a browser
 * sends no header of ours. Only hashes are kept.
 */
export class Tickets<Subject> {
  readonly #open = new Map<string, Open<Subject>>()

  /** A new ticket: 160 random bits. `expiresAt` is in epoch milliseconds. */
  issue(subject: Subject, now: number): { ticket: string; expiresAt: number } {
    const ticket = randomWord()
    const expiresAt = now + TICKET_MS
    const oldest = this.#open.keys().next()
    if (this.#open.size >= MAX_OPEN && !oldest.done) this.#open.delete(oldest.value)
    this.#open.set(hashSecret(ticket), { subject, expiresAt })
    return { ticket, expiresAt }
  }

  /** Uses a ticket up. Throws `not_found` for one that is used, over or unknown. */
  redeem(ticket: string, now: number): Subject {
    const hash = hashSecret(ticket)
    const open = this.#open.get(hash)
    this.#open.delete(hash)
    if (open !== undefined && now < open.expiresAt) return open.subject
    throw new UpshotError('not_found', 'The ticket was used, has expired or is unknown.', {
      fix: 'Ask for a new one: each is good for one download within a minute.',
    })
  }
}
