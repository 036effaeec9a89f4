import { type Request, type Response, Router } from 'express'
import { ACCESS_ROLES, type AccessRole } from '../../../core/access/role.ts'
import { hashSecret } from '../../../core/access/token.ts'
import { describeError, UpshotError } from '../../../core/errors.ts'
import { randomWord } from '../../../core/ids.ts'
import type { Publish } from '../../../core/notices.ts'
import { asOperator } from '../../../core/store/safety/as-operator.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Clock } from '../../../core/time.ts'
import { readCookie } from '../cookie.ts'
import type { AccessOptions, OidcOptions } from '../options.ts'
import { OidcProvider, type SignedIn } from './oidc-provider.ts'

interface OidcParts {
  store: Parameters<typeof asOperator>[0] & Pick<Store, 'saveLoginCode'>
  clock: Clock
  publish: Publish
  access: Pick<AccessOptions, 'url' | 'basePath'> & { oidc: OidcOptions }
}

/** How long a person may take at the provider. */
const PATIENCE_SECONDS = 600
/** How long the code is good for with which the page starts its session. */
const CODE_MS = 60_000
const COOKIE = 'upshot_oidc'

/**
 * Sign-in by a provider of OpenID Connect: a code with PKCE. Its end is a one-time code, as that of
 * `upshot dashboard`, so sessions are made in one way only.
 */
export function oidcRoutes(parts: OidcParts): Router {
  const { oidc, url, basePath } = parts.access
  // Without `url` the server answers on this machine alone, under names that were checked.
  const here = (request: Request) => `${url ?? `http://${request.headers.host}`}${basePath}`
  const provider = new OidcProvider(oidc)
  const router = Router()
  router.get('/oidc/start', async (request, response) => {
    await orExplain(response, parts, async () => {
      const { address, memory } = await provider.begin(`${here(request)}/oidc/callback`)
      response.set('Set-Cookie', writeMemory(memory, here(request), PATIENCE_SECONDS))
      return address
    })
  })
  router.get('/oidc/callback', async (request, response) => {
    await orExplain(response, parts, async () => {
      response.set('Set-Cookie', writeMemory('', here(request), 0))
      const memory = readCookie(request.headers.cookie, COOKIE)
      if (memory === null) throw new UpshotError('unauthenticated', 'This browser began no sign-in, or took too long.')
      const user = await provider.end(new URL(request.originalUrl, here(request)), memory)
      return `${here(request)}/login#${await makeCode(user, request, parts)}`
    })
  })
  return router
}

/** Answers with a redirect; what went wrong is told on the page, and in the log. */
async function orExplain(
  response: Response,
  { access, publish }: OidcParts,
  findAddress: () => Promise<string>,
): Promise<void> {
  response.set('Cache-Control', 'no-store')
  try {
    response.redirect(await findAddress())
  } catch (error) {
    const fault = error instanceof UpshotError && error.code === 'forbidden' ? 'no-role' : 'failed'
    publish({ kind: 'fault', where: 'sign-in', error: describeError(error) })
    response.redirect(`${access.basePath}/login?fault=${fault}`)
  }
}

/** A one-time code for a user of the provider. Throws `forbidden` for one without a role. */
async function makeCode(user: SignedIn, request: Request, { store, clock, access }: OidcParts): Promise<string> {
  const role = findRole(user.groups, access.oidc.roles)
  if (role === null) throw new UpshotError('forbidden', `${user.name} is in no group that may sign in.`)
  const code = randomWord()
  const now = clock.now()
  const from = request.socket.remoteAddress ?? ''
  const writes = asOperator(store, { actor: `oidc:${user.name}`, role, from, reason: null }, clock)
  await writes.saveLoginCode({ hash: hashSecret(code), name: user.name, role, expiresAt: now + CODE_MS })
  return code
}

/** The browser keeps what the provider's answer must fit, so any process may take the answer. */
function writeMemory(memory: string, here: string, seconds: number): string {
  const { protocol, pathname } = new URL(here)
  const path = `${pathname.replace(/\/$/, '')}/oidc`
  // Lax: the browser comes back from a foreign page.
  const secure = protocol === 'https:' ? '; Secure' : ''
  return `${COOKIE}=${memory}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** The highest role that the groups of a user have; `*` stands for everybody. Null: none. */
export function findRole(groups: readonly string[], roles: Readonly<Record<string, AccessRole>>): AccessRole | null {
  const given = [...groups, '*'].flatMap((group) => (Object.hasOwn(roles, group) ? (roles[group] ?? []) : []))
  return ACCESS_ROLES.findLast((role) => given.includes(role)) ?? null
}
