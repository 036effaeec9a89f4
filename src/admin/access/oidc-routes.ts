import { type Request, type Response, Router } from 'express'
import type { Configuration } from 'openid-client'
import { ACCESS_ROLES, type AccessRole } from '../../core/access/role.ts'
import { hashSecret } from '../../core/access/token.ts'
import { describeError, UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Publish } from '../../core/notices.ts'
import { nameProvided } from '../../core/safety/votes/person.ts'
import { isLoopback } from '../../core/service/account.ts'
import { asOperator } from '../../core/store/as-operator.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { readCookie } from './cookie.ts'
import type { AccessOptions, OidcOptions } from './options.ts'

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
      if (memory === null)
        throw new UpshotError('unauthenticated', 'This browser did not start a sign-in, or took too long.')
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

/** Somebody whom the provider named. */
interface SignedIn {
  /** From the first of `preferred_username`, `email` and `sub` that it gave. */
  name: string
  groups: string[]
}

/** Characters of a name that are kept. */
const MAX_NAME = 200

/** A provider of OpenID Connect, whose description the first sign-in asks for. */
class OidcProvider {
  readonly #options: OidcOptions
  #found: Promise<Configuration> | null = null

  constructor(options: OidcOptions) {
    this.#options = options
  }

  /** An address for the browser, and a text that it keeps until it comes back to `callback`. */
  async begin(callback: string): Promise<{ address: string; memory: string }> {
    const client = await import('openid-client')
    const [verifier, state, nonce] = [client.randomPKCECodeVerifier(), client.randomState(), client.randomNonce()]
    const address = client.buildAuthorizationUrl(await this.#find(), {
      redirect_uri: callback,
      scope: this.#options.scope,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    return { address: address.href, memory: [verifier, state, nonce].join('.') }
  }

  /** Exchanges the code in `answer` for a user. Throws for an answer that does not fit `memory`. */
  async end(answer: URL, memory: string): Promise<SignedIn> {
    const client = await import('openid-client')
    const [pkceCodeVerifier, expectedState, expectedNonce] = memory.split('.')
    if (!pkceCodeVerifier || !expectedState || !expectedNonce)
      throw new UpshotError('unauthenticated', 'The cookie of this sign-in is damaged.')
    const tokens = await client.authorizationCodeGrant(await this.#find(), answer, {
      pkceCodeVerifier,
      expectedState,
      expectedNonce,
      idTokenExpected: true,
    })
    const claims: Record<string, unknown> = { ...tokens.claims() }
    const named = ['preferred_username', 'email', 'sub'].map((claim) => claims[claim])
    const name = named.find((value) => typeof value === 'string' && value !== '')
    const groups = [claims[this.#options.groupsClaim]].flat().filter((group) => typeof group === 'string')
    const account = { issuer: String(claims.iss), subject: String(claims.sub) }
    return { name: nameProvided(String(name).slice(0, MAX_NAME), account), groups }
  }

  /** A description that could not be had is asked for again. */
  #find(): Promise<Configuration> {
    this.#found ??= this.#discover().catch((error: unknown) => {
      this.#found = null
      throw error
    })
    return this.#found
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const { issuer, clientId, secret } = this.#options
    const server = new URL(issuer)
    const execute = isLoopback(server.hostname) ? [client.allowInsecureRequests] : []
    const how = secret === null ? client.None() : client.ClientSecretPost(secret)
    return client.discovery(server, clientId, undefined, how, { execute })
  }
}
