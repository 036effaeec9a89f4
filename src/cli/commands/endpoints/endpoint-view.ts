import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { SignatureScheme } from '../../../core/incoming/signature.ts'

/** An endpoint for JSON, without its secrets. */
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
  /** Number of stored secrets. */
  secrets: number
  status: Endpoint['status']
  createdAt: string
}

/** An endpoint for JSON. `base` is the base URL of its address, null if unknown. */
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

/** Advice for an address on this machine; null for a public or unknown one. */
export function adviseReach({ url }: Pick<EndpointView, 'url'>): string | null {
  const isLocal = url !== null && /^http:\/\/(127\.|localhost|0\.0\.0\.0|\[::1?\])/.test(url)
  if (!isLocal) return null
  const { origin } = new URL(url)
  return `The service needs your public https address instead of ${origin}. Set UPSHOT_PUBLIC_URL to print it here.`
}

/** A scheme in words, such as `HMAC-SHA256 of the body, in hex`. */
export function describeAlgorithm(scheme: SignatureScheme): string {
  const { algorithm, encoding, signed, grammar, prefix } = scheme
  const written = {
    plain: '',
    prefix: `, written as ${prefix}<signature>`,
    pairs: `, written as ${scheme.timestampKey}=<timestamp>,${scheme.signatureKey}=<signature>`,
    versions: ', written as v1,<signature>',
  }[grammar]
  const content = signed === 'body' ? 'the body' : `"${signed}"`
  return `HMAC-${algorithm.toUpperCase()} of ${content}, in ${encoding}${written}`
}
