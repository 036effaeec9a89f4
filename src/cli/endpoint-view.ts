import type { Endpoint } from '../core/endpoint.ts'
import type { SignatureScheme } from '../core/signature.ts'

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

/** `receiver` is the address of the receiver, where it is known. */
export function describeEndpoint(endpoint: Endpoint, receiver: string | null): EndpointView {
  const { id, name, path, account, events, scheme, secrets, status, createdAt } = endpoint
  return {
    id,
    name,
    url: receiver === null ? null : `${receiver}/hooks/${path}`,
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

function describeAlgorithm(scheme: SignatureScheme): string {
  const { algorithm, encoding, signed, grammar, prefix } = scheme
  const written = {
    plain: '',
    prefix: `, written as ${prefix}<signature>`,
    pairs: `, written as ${scheme.timestampKey}=<timestamp>,${scheme.signatureKey}=<signature>`,
    versions: ', written as v1,<signature>',
  }[grammar]
  return `HMAC-${algorithm.toUpperCase()} of ${signed === 'body' ? 'the body' : `"${signed}"`}, in ${encoding}${written}`
}
