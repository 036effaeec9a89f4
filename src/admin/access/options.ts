import type { AccessRole } from '../../core/access/role.ts'

/** Users that a proxy in front has logged in. */
interface ProxyUsers {
  /** Header with the name of the user, in lower case. */
  header: string
  /** Addresses of the proxy; the header is ignored in requests from others. */
  from: readonly string[]
  /** Role of each user; `*` stands for every other one. */
  roles: Readonly<Record<string, AccessRole>>
}

/** A provider of OpenID Connect that signs users in. */
export interface OidcOptions {
  /** Address of the provider, whose description is below it. */
  issuer: string
  clientId: string
  /** Null: a public client, which PKCE alone protects. */
  secret: string | null
  scope: string
  /** Claim of the id token that lists the groups of a user. */
  groupsClaim: string
  /** Role of each group; `*` stands for every user. */
  roles: Readonly<Record<string, AccessRole>>
}

/** Addresses and logins of the admin server. */
export interface AccessOptions {
  /** Prefix of every path, such as `/ops`; empty for none. */
  basePath: string
  /** Address at which browsers reach it through a proxy or a mapped port; null: only loopback. */
  url: string | null
  /** SHA-256 of the token in `admin.token`, which has the role admin. */
  fileTokenHash: string
  /** Null: no proxy logs users in. */
  proxy: ProxyUsers | null
  /** Left out or null: no provider signs users in. */
  oidc?: OidcOptions | null
}
