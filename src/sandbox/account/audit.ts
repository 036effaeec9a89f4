import { createHash } from 'node:crypto'
import { isoTime } from '../../core/time.ts'
import type { Db } from '../state/database.ts'
import { statement } from '../state/statement.ts'

/** What a client can be caught at. */
export type AuditRule = 'called_before_retry_after' | 'refused_key_reused' | 'limit_over_100' | 'key_on_download_host'

/** Something a client did wrong. */
export interface Finding {
  rule: AuditRule
  at: string
  /** Null where the credential is none of the account's. */
  keyId: string | null
  message: string
}

/** One request of the Files API. */
export interface JournalEntry {
  at: string
  operation: string
  keyId: string | null
  status: number
  /** The error code; null on success. */
  code: string | null
  /** The fault that struck, or null. */
  faultId: string | null
}

/** A timer may fire this much early. */
const TIMER_SLACK_MS = 5
const MAX_REMEMBERED = 1_000
const MAX_ROWS = 10_000

/**
 * Watches how clients behave: which requests came, and which should not have. Both lists keep the
 * newest 10,000.
 */
export class Audit {
  readonly #db: Db
  /** Key → the moment before which it was told not to call. */
  readonly #notBefore = new Map<string, number>()
  /** Hashes of credentials that were refused. */
  readonly #refused = new Set<string>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Oldest first. */
  findings(): Finding[] {
    return statement<[], Omit<Finding, 'at'> & { at: number }>(
      this.#db,
      'SELECT at, rule, key_id AS keyId, message FROM findings ORDER BY number',
    )
      .all()
      .map((finding) => ({ ...finding, at: isoTime(finding.at) }))
  }

  /** Oldest first. */
  requests(): JournalEntry[] {
    return statement<[], Omit<JournalEntry, 'at'> & { at: number }>(
      this.#db,
      'SELECT at, operation, key_id AS keyId, status, code, fault_id AS faultId FROM requests ORDER BY number',
    )
      .all()
      .map((entry) => ({ ...entry, at: isoTime(entry.at) }))
  }

  /** How many requests there have been. */
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

  /** Forgets what clients were told: keys and time are not what they were. */
  forget(): void {
    this.#notBefore.clear()
    this.#refused.clear()
  }

  /** A call with a good key. */
  noteCall(keyId: string, now: number): void {
    const notBefore = this.#notBefore.get(keyId) ?? 0
    if (now >= notBefore - TIMER_SLACK_MS) return
    this.#find('called_before_retry_after', keyId, now, `It was told to wait ${notBefore - now} ms longer.`)
  }

  /** A key was told to wait. */
  noteLimited(keyId: string, retryAt: number): void {
    this.#notBefore.set(keyId, retryAt)
    const [oldest] = this.#notBefore.keys()
    if (this.#notBefore.size > MAX_REMEMBERED && oldest !== undefined) this.#notBefore.delete(oldest)
  }

  /** A credential was refused. A client has no reason to try the same one again. */
  noteRefused(credential: string, now: number): void {
    const hash = createHash('sha256').update(credential).digest('base64')
    if (this.#refused.has(hash)) this.#find('refused_key_reused', null, now, 'A key came again after it was refused.')
    this.#refused.add(hash)
    const [oldest] = this.#refused
    if (this.#refused.size > MAX_REMEMBERED && oldest !== undefined) this.#refused.delete(oldest)
  }

  noteLimitOver100(keyId: string, now: number): void {
    this.#find('limit_over_100', keyId, now, 'It asked for more than 100 entries per page.')
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
