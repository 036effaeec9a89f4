import type { Configuration } from 'openid-client'
import { UpshotError } from '../../../core/errors.ts'
import { isLoopback } from '../../../core/service/account.ts'
import type { OidcOptions } from '../options.ts'

/** Somebody whom the provider named. */
export interface SignedIn {
  /** The first of `preferred_username`, `email` and `sub` that it gave. */
  name: string
  groups: string[]
}

/** Characters of a name that are kept. */
const MAX_NAME = 200

/** A provider of OpenID Connect, whose description the first sign-in asks for. */
export class OidcProvider {
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
      ...{ state, nonce },
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
      ...{ pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true },
    })
    const claims: Record<string, unknown> = { ...tokens.claims() }
    const named = ['preferred_username', 'email', 'sub'].map((claim) => claims[claim])
    const name = named.find((value) => typeof value === 'string' && value !== '')
    const groups = [claims[this.#options.groupsClaim]].flat().filter((group) => typeof group === 'string')
    return { name: String(name).slice(0, MAX_NAME), groups }
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
