import type { AccessRole } from '../../../core/access/role.ts'
import { LOGIN_CODE_MS } from '../../../core/access/session.ts'
import { hashSecret } from '../../../core/access/token.ts'
import { UpshotError } from '../../../core/errors.ts'
import { newId, randomWord } from '../../../core/ids.ts'
import { presentMode } from '../../../core/safety/stop.ts'
import { asOperator } from '../../../core/store/as-operator.ts'
import { listSwitches } from '../../../core/store/list-switches.ts'
import type { Store } from '../../../core/store/store.ts'
import { type Clock, isoTime } from '../../../core/time.ts'
import type { AccessStore, Authenticator } from '../../access/authenticator.ts'
import { type Caller, describeOperator } from '../../access/caller.ts'
import { type CookieScope, writeCookie } from '../../access/cookie.ts'
import { describeOpenapi } from '../../contract/openapi.ts'
import type { ACCESS_ROUTES } from '../../contract/resources/access/access.ts'
import { ROUTES } from '../../contract/routes.ts'
import type { HttpHandlers } from '../../perform/handler.ts'
import type { Surroundings } from '../../ports/surroundings.ts'

/** Facts about this process that every page shows. */
export interface ProcessFacts {
  version: string
  /** Role of the process, such as `all` or `worker`. */
  role: string
  isSandbox: boolean
}

interface AccessParts {
  store: AccessStore & Pick<Store, 'carryOutDecision' | 'operate' | 'listActions'>
  clock: Clock
  authenticator: Pick<Authenticator, 'wrong'>
  cookieScope: () => CookieScope
  facts: ProcessFacts
  surroundings: Pick<Surroundings, 'sandboxUrl'>
  /** Address of the provider that signs people in; null: there is none. */
  issuer: string | null
}

/** A cookie outlives no session: the store decides, at most 7 days. */
const COOKIE_SECONDS = 7 * 86_400

/** Login, logout, and who is logged in. */
export function accessHandlers(parts: AccessParts): HttpHandlers<keyof typeof ACCESS_ROUTES> {
  const { store, cookieScope, facts, surroundings, issuer } = parts
  return {
    'GET /login': async () => ({ provider: issuer === null ? null : new URL(issuer).host }),
    async 'POST /login'({ body, caller, now, response }) {
      const { cookie, key, role } = await logIn(parts, { code: body.code, address: caller.address }, now)
      response.set('Set-Cookie', writeCookie(cookieScope(), cookie, COOKIE_SECONDS))
      return { key, role }
    },
    async 'POST /logout'({ caller, response }) {
      if (caller.kind === 'session') await writesOf(parts, caller).endSession(caller.id)
      response.set('Set-Cookie', writeCookie(cookieScope(), '', 0))
      return undefined
    },
    'GET /session': async ({ caller, now }) => ({
      name: caller.name,
      role: caller.role,
      kind: caller.kind,
      version: facts.version,
      processRole: facts.role,
      basePath: cookieScope().basePath,
      isSandbox: facts.isSandbox,
      sandboxUrl: surroundings.sandboxUrl(),
      effects: presentMode(await listSwitches(store)),
      now: isoTime(now),
    }),
    'GET /openapi.json': async () =>
      describeOpenapi(ROUTES, { version: facts.version, url: `${cookieScope().basePath}/api/v1` }),
  }
}

function writesOf({ store, clock }: AccessParts, caller: Caller) {
  return asOperator(store, describeOperator(caller, null), clock)
}

/**
 * Takes a one-time code, and starts a session. Its two secrets are seen once. Throws
 * `unauthenticated`, or `too_many_requests` for a sixth wrong code within a minute.
 */
async function logIn(
  parts: AccessParts,
  { code, address }: { code: string; address: string },
  now: number,
): Promise<{ cookie: string; key: string; role: AccessRole }> {
  const { wrong } = parts.authenticator
  const codeHash = hashSecret(code)
  const known = await parts.store.findLoginCode(codeHash, now)
  // A code that was made while the clock was ahead is no good. Clocks may differ by minutes.
  if (known !== null && known.expiresAt <= now + 2 * LOGIN_CODE_MS) {
    const [cookie, key] = [randomWord(), randomWord()]
    const hashes = { cookieHash: hashSecret(cookie), keyHash: hashSecret(key) }
    const { name, role } = known
    const session = { id: newId('ses', now), name, role, ...hashes, address, createdAt: now, seenAt: now }
    const writes = writesOf(parts, { ...session, kind: 'session' })
    if (await writes.startSession(session, codeHash)) return { cookie, key, role }
  }
  // After the look: behind a proxy all people have one address, and a stranger stops nobody.
  wrong.check(address, now)
  wrong.count(address)
  throw new UpshotError('unauthenticated', 'The login code was used, has expired or is unknown.', {
    fix: 'Make another one with "upshot dashboard"; it is valid once, for ten minutes.',
  })
}
