import { includesRole } from '../../../core/access/role.ts'
import { hashSecret } from '../../../core/access/token.ts'
import { UpshotError } from '../../../core/errors.ts'
import { randomWord } from '../../../core/ids.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { FileDetails, FileEntry } from '../../../core/service/file.ts'
import { STORAGES, type StorageName } from '../../../core/service/storage.ts'
import { isoTime } from '../../../core/time.ts'
import { type Caller, describeOperator } from '../../access/caller.ts'
import type { FILE_ROUTES } from '../../contract/resources/service/files.ts'
import type { Handlers } from '../../perform/handler.ts'
import { decodePosition, encodePosition } from '../../queries/read-query.ts'
import { type ResourceParts, recordAction } from '../parts.ts'

/** A download that somebody asked for. */
interface Download {
  account: string
  file: FileDetails
}

/** Files of the service: a look, a download by ticket, and a delete. See decision 69. */
export function fileHandlers(parts: ResourceParts): Handlers<keyof typeof FILE_ROUTES> {
  const { store, surroundings } = parts
  const { files } = surroundings
  const tickets = new Tickets<Download>()
  const requireAccount = async (name: string) => {
    if (name === DEFAULT_ACCOUNT || (await store.findAccount(name)) !== null) return name
    throw new UpshotError('not_found', `There is no account "${name}".`)
  }
  return {
    async 'GET /files/:storage'({ params, query, signal }) {
      const account = await requireAccount(query.account)
      const place = { storage: requireStorage(params.storage), path: query.path, limit: query.limit }
      const { items, next, total } = await files.list(account, { ...place, ...readPlace(query.after) }, signal)
      return { items: items.map(describeFile), next: next && encodePosition(`${next.page}:${next.token ?? ''}`), total }
    },
    async 'GET /files/:storage/:id'({ params, query, signal }) {
      const account = await requireAccount(query.account)
      const file = { service: requireStorage(params.storage), id: params.id }
      const { owner, shared, ...entry } = await files.get(account, file, signal)
      return { ...describeFile(entry), owner, shared }
    },
    async 'POST /files/:storage/:id/ticket'({ params, body, caller, now, signal }) {
      const account = await requireAccount(body.account)
      const place = { service: requireStorage(params.storage), id: params.id }
      const file = await files.get(account, place, signal)
      if (file.type === 'folder') throw new UpshotError('invalid_request', `${file.path} is a folder.`)
      const about = { account, path: file.path, bytes: file.size }
      await recordAction(
        parts,
        { caller, body },
        { action: 'file.download', target: `${place.service}:${place.id}`, parameters: about },
        'begun',
      )
      const { ticket, expiresAt } = tickets.issue({ account, file }, now)
      return { ticket, expiresAt: isoTime(expiresAt) }
    },
    async 'GET /downloads/:ticket'({ params, now, signal }) {
      const { account, file } = tickets.redeem(params.ticket, now)
      const { name, size } = file
      return { type: 'application/octet-stream', name, size, chunks: files.stream(account, file, signal) }
    },
    async 'POST /files/:storage/:id/delete'({ params, body, caller }) {
      const account = await requireAccount(body.account)
      const { expect, count, reason = null } = body
      const file = { service: requireStorage(params.storage), id: params.id, ...expect }
      requireRights(caller, { account, keeper: surroundings.defaultAccount().keeper })
      const most = surroundings.guard()?.workflow.deletes?.perRun ?? Number.POSITIVE_INFINITY
      if (most < 1 && count === undefined) {
        throw new UpshotError('needs_confirmation', 'The guard lets no run delete a file without people.', {
          fix: 'Confirm the number of files: send `count` as 1.',
        })
      }
      const target = `${file.service}:${file.id}`
      const parameters = { count: 1, account, files: [target] }
      await recordAction(parts, { caller, body }, { action: 'files.rm', target, parameters }, 'begun')
      return files.remove({ account, file, actor: describeOperator(caller, reason).actor, reason })
    },
  }
}

function requireStorage(name: string): StorageName {
  const known = STORAGES.find((storage) => storage === name)
  if (known !== undefined) return known
  throw new UpshotError('not_found', `There is no storage "${name}".`, { fix: `Use one of: ${STORAGES.join(', ')}.` })
}

/** A file of the real service is gone for good: that needs an admin. */
function requireRights({ role, name }: Caller, { account, keeper }: { account: string; keeper: string }): void {
  const isSandbox = account === DEFAULT_ACCOUNT && keeper === 'sandbox'
  if (isSandbox || includesRole(role, 'admin')) return
  throw new UpshotError('forbidden', `A delete in the account "${account}" needs the role admin; ${name} has ${role}.`)
}

function readPlace(after: string | undefined): { page: number; token: string | null } {
  const [, page = '1', token = ''] = /^(\d+):(.*)$/s.exec(decodePosition(after, /^\d{1,9}:/) ?? '') ?? []
  return { page: Number(page), token: token === '' ? null : token }
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
    throw new UpshotError('not_found', 'The ticket is used, over or unknown.', {
      fix: 'Ask for a new one: each is good for one download within a minute.',
    })
  }
}
