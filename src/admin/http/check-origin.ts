import type { IncomingHttpHeaders } from 'node:http'
import { UpshotError } from '../../core/errors.ts'

/** Addresses at which browsers may reach the admin server. */
export interface OwnAddress {
  port: number
  /** `admin.url`; null: only loopback. */
  url: string | null
}

/** Names of this machine in a `Host` header. */
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/** Throws `misdirected` for a foreign `Host`, which stops DNS rebinding. */
export function checkHost({ host = '' }: IncomingHttpHeaders, place: OwnAddress): void {
  const isOwn = ownOrigins(place).some((own) => new URL(own).host === withoutUsualPort(host.toLowerCase(), own))
  if (!isOwn) throw new UpshotError('misdirected', 'The admin server does not answer under this name.')
}

/** Throws `forbidden` for a request that a foreign page sends. */
export function checkOrigin(headers: IncomingHttpHeaders, place: OwnAddress): void {
  const { origin } = headers
  const isForeign = origin !== undefined && !ownOrigins(place).includes(origin)
  const site = headers['sec-fetch-site']
  if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    throw new UpshotError('forbidden', 'Another page sent this request.', {
      fix: 'Open the dashboard with the link that "upshot dashboard" prints.',
    })
  }
}

function ownOrigins({ port, url }: OwnAddress): string[] {
  const own = LOOPBACK.map((name) => new URL(`http://${name}:${port}`).origin)
  return url === null ? own : [...own, new URL(url).origin]
}

/** A `Host` header without the port that its scheme implies, as the host of a URL has it. */
function withoutUsualPort(host: string, origin: string): string {
  return host.replace(origin.startsWith('https:') ? /:443$/ : /:80$/, '')
}
