import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isSessionAlive, SEEN_STEP_MS } from '../../core/access/session.ts'
import { hashSecret, isTokenAlive } from '../../core/access/token.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import type { Caller } from './caller.ts'
import { Attempts } from './caller-limits.ts'
import { readCookie } from './cookie.ts'
import type { AccessOptions } from './options.ts'

export type AccessStore = Pick<
  Store,
  'findSession' | 'findToken' | 'findLoginCode' | 'startSession' | 'touchSession' | 'touchToken' | 'endSession'
>

/** A request as far as it tells who sends it. */
interface Credentials {
  headers: IncomingHttpHeaders
  address: string
  cookieName: string
}

/** Header with the page key. Only our own page can send it, so it also stops forged requests. */
const KEY_HEADER = 'x-upshot'
/** Wrong tokens and wrong codes within a minute: from one address, and in all. */
const MAX_WRONG = 5
const MAX_WRONG_IN_ALL = 20

/** Finds out who sends a request. */
export class Authenticator {
  readonly wrong = new Attempts(MAX_WRONG, MAX_WRONG_IN_ALL)
  readonly #store: AccessStore
  readonly #options: AccessOptions

  constructor(store: AccessStore, options: AccessOptions) {
    this.#store = store
    this.#options = options
  }

  /**
   * Throws `unauthenticated`, or `too_many_requests` after five wrong tokens within a minute.
   * `isUse` false: a session that only listens may become idle.
   */
  async identify(credentials: Credentials, now: number, { isUse = true } = {}): Promise<Caller> {
    const { headers, address } = credentials
    const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
    if (bearer !== undefined) return this.#identifyToken(bearer, address, now)
    const caller = this.#readProxy(credentials) ?? (await this.#identifySession(credentials, now, isUse))
    if (caller !== null) return caller
    throw new UpshotError('unauthenticated', 'This request carries no valid login.')
  }

  async #identifyToken(secret: string, address: string, now: number): Promise<Caller> {
    const given = hashSecret(secret)
    if (isSame(given, this.#options.fileTokenHash)) {
      return { name: 'admin.token', kind: 'token', id: 'admin.token', role: 'admin', address }
    }
    const token = await this.#store.findToken(given)
    if (token !== null && isTokenAlive(token, now)) {
      if ((token.lastUsedAt ?? 0) + SEEN_STEP_MS <= now) await this.#store.touchToken(token.id, now)
      return { name: token.name, kind: 'token', id: token.id, role: token.role, address }
    }
    this.wrong.check(address, now)
    this.wrong.count(address)
    throw new UpshotError('unauthenticated', 'The token is unknown, expired or revoked.')
  }

  async #identifySession({ headers, address, cookieName }: Credentials, now: number, isUse: boolean) {
    const cookie = readCookie(headers.cookie, cookieName)
    const key = headers[KEY_HEADER]
    if (cookie === null || typeof key !== 'string') return null
    const session = await this.#store.findSession(hashSecret(cookie))
    if (session === null || !isSessionAlive(session, now) || !isSame(hashSecret(key), session.keyHash)) return null
    if (isUse && session.seenAt + SEEN_STEP_MS <= now) await this.#store.touchSession(session.id, now)
    return { name: session.name, kind: 'session', id: session.id, role: session.role, address } as const
  }

  /** A user named by the proxy. The page key may be any text: a foreign page can send none. */
  #readProxy({ headers, address }: Credentials): Caller | null {
    const { proxy } = this.#options
    if (proxy === null || !proxy.from.includes(plainAddress(address))) return null
    const name = headers[proxy.header]
    if (typeof name !== 'string' || name === '' || headers[KEY_HEADER] === undefined) return null
    const role = Object.hasOwn(proxy.roles, name) ? proxy.roles[name] : proxy.roles['*']
    return role === undefined ? null : { name, kind: 'proxy', id: name, role, address }
  }
}

/** An IPv4 address without the prefix that a dual-stack socket gives it. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:/, '')
}

function isSame(hash: string, other: string): boolean {
  return hash.length === other.length && timingSafeEqual(Buffer.from(hash), Buffer.from(other))
}
