import { hashSecret } from '../../core/access/token.ts'
import { UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'

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
