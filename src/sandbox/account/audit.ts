import { createHash } from 'node:crypto'
import { isoTime } from '../../core/time.ts'
import { type Db, statement } from '../state/database.ts'

/** A rule that the audit checks. */
export type AuditRule = 'called_before_retry_after' | 'refused_key_reused' | 'limit_over_100' | 'key_on_download_host'

/** A violation of one rule by a client. */
export interface Finding {
  rule: AuditRule
  /** ISO 8601. */
  at: string
  /** Null when the account has no such credential. */
  keyId: string | null
  message: string
}

/** A request to the Files API. */
export interface JournalEntry {
  /** ISO 8601. */
  at: string
  /** Such as `files.list`. */
  operation: string
  /** Null without a valid key, or if a fault struck first. */
  keyId: string | null
  status: number
  /** The error code; null on success. */
  code: string | null
  /** The fault that changed the reply, or null. */
  faultId: string | null
}

/** How early a timer may fire. */
const TIMER_SLACK_MS = 5
const MAX_REMEMBERED = 1_000
const MAX_ROWS = 10_000

/** Records the requests of clients and the rules they violate. Keeps the newest 10,000 of each. */
export class Audit {
  readonly #db: Db
  /** By key: the time before which the key was told not to call, epoch milliseconds. */
  readonly #notBefore = new Map<string, number>()
  /** SHA-256 hashes of refused credentials. */
  readonly #refused = new Set<string>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Violations, oldest first. */
  findings(): Finding[] {
    return statement<[], Omit<Finding, 'at'> & { at: number }>(
      this.#db,
      'SELECT at, rule, key_id AS keyId, message FROM findings ORDER BY number',
    )
      .all()
      .map((finding) => ({ ...finding, at: isoTime(finding.at) }))
  }

  /** Requests, oldest first. */
  requests(): JournalEntry[] {
    return statement<[], Omit<JournalEntry, 'at'> & { at: number }>(
      this.#db,
      'SELECT at, operation, key_id AS keyId, status, code, fault_id AS faultId FROM requests ORDER BY number',
    )
      .all()
      .map((entry) => ({ ...entry, at: isoTime(entry.at) }))
  }

  /** The number of requests ever made, pruned ones included. */
  requestCount(): number {
    return statement<[], number>(this.#db, 'SELECT coalesce(max(number), 0) FROM requests').pluck().get() ?? 0
  }

  noteRequest(entry: Omit<JournalEntry, 'at'>, now: number): void {
    const { lastInsertRowid } = statement(
      this.#db,
      `INSERT INTO requests (at, operation, key_id, status, code, fault_id)
         VALUES (@at, @operation, @keyId, @status, @code, @faultId)`,
    ).run({ ...entry, at: now })
    statement(this.#db, 'DELETE FROM requests WHERE number <= ?').run(Number(lastInsertRowid) - MAX_ROWS)
  }

  /** Forgets waits and refusals, which refer to the keys and the clock before a reset. */
  forget(): void {
    this.#notBefore.clear()
    this.#refused.clear()
  }

  /** Checks that a call with a valid key respects the last `Retry-After`. */
  noteCall(keyId: string, now: number): void {
    const notBefore = this.#notBefore.get(keyId) ?? 0
    if (now >= notBefore - TIMER_SLACK_MS) return
    this.#find('called_before_retry_after', keyId, now, `It called ${notBefore - now} ms before it was allowed to.`)
  }

  /** Notes until when a key was told to wait. */
  noteLimited(keyId: string, retryAt: number): void {
    this.#notBefore.set(keyId, retryAt)
    const [oldest] = this.#notBefore.keys()
    if (this.#notBefore.size > MAX_REMEMBERED && oldest !== undefined) this.#notBefore.delete(oldest)
  }

  /** Notes a refused credential. Sending it again is a violation, because it cannot succeed. */
  noteRefused(credential: string, now: number): void {
    const hash = createHash('sha256').update(credential).digest('base64')
    if (this.#refused.has(hash)) this.#find('refused_key_reused', null, now, 'A refused key was sent again.')
    this.#refused.add(hash)
    const [oldest] = this.#refused
    if (this.#refused.size > MAX_REMEMBERED && oldest !== undefined) this.#refused.delete(oldest)
  }

  noteLimitOver100(keyId: string, now: number): void {
    this.#find('limit_over_100', keyId, now, 'It asked for more than 100 entries on a page.')
  }

  noteKeyOnDownloadHost(now: number): void {
    this.#find('key_on_download_host', null, now, 'A credential was sent to the download host.')
  }

  #find(rule: AuditRule, keyId: string | null, now: number, message: string): void {
    const { lastInsertRowid } = statement(
      this.#db,
      'INSERT INTO findings (at, rule, key_id, message) VALUES (?, ?, ?, ?)',
    ).run(now, rule, keyId, message)
    statement(this.#db, 'DELETE FROM findings WHERE number <= ?').run(Number(lastInsertRowid) - MAX_ROWS)
  }
}
