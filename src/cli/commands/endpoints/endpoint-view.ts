import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { SignatureScheme } from '../../../core/incoming/signature.ts'

/** An endpoint as it may be shown to anyone: without its secrets. */
export interface EndpointView {
  id: string
  name: string
  /** Null until the app has chosen its port. */
  url: string | null
  account: string
  events: string[]
  header: string
  /** Such as `HMAC-SHA256 of the body, in hex`. */
  algorithm: string
  scheme: SignatureScheme
  /** How many secrets are stored. */
  secrets: number
  status: Endpoint['status']
  createdAt: string
}

/**
 * `base` is the address of the receiver, where it is known: the public one, or the one on this
 * machine.
 */
export function describeEndpoint(endpoint: Endpoint, base: string | null): EndpointView {
  const { id, name, path, account, events, scheme, secrets, status, createdAt } = endpoint
  return {
    id,
    name,
    url: base === null ? null : `${base}/hooks/${path}`,
    account,
    events,
    header: scheme.header,
    algorithm: describeAlgorithm(scheme),
    scheme,
    secrets: secrets.length,
    status,
    createdAt: new Date(createdAt).toISOString(),
  }
}

/** How to reach the address that an endpoint is shown with; null where nothing needs to be said. */
export function adviseReach({ url }: Pick<EndpointView, 'url'>): string | null {
  const isLocal = url !== null && /^http:\/\/(127\.|localhost|0\.0\.0\.0|\[::1?\])/.test(url)
  if (!isLocal) return null
  return `For the service, put your public https address in place of ${new URL(url).origin}; with UPSHOT_PUBLIC_URL set it is printed here.`
}

/** Such as `HMAC-SHA256 of the body, in hex`. */
export function describeAlgorithm(scheme: SignatureScheme): string {
  const { algorithm, encoding, signed, grammar, prefix } = scheme
  const written = {
    plain: '',
    prefix: `, written as ${prefix}<signature>`,
    pairs: `, written as ${scheme.timestampKey}=<timestamp>,${scheme.signatureKey}=<signature>`,
    versions: ', written as v1,<signature>',
  }[grammar]
  return `HMAC-${algorithm.toUpperCase()} of ${signed === 'body' ? 'the body' : `"${signed}"`}, in ${encoding}${written}`
}
