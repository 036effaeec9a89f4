import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { isActive } from '../../../core/incoming/endpoint.ts'
import type { SignatureScheme } from '../../../core/incoming/signature.ts'
import { commandClock } from '../../command-clock.ts'

export type Endpoint = AnswerOf<'GET /endpoints/:name'>
/** A secret without its value. */
export type Secret = Endpoint['secrets'][number]

/** Whether deliveries that are signed with a secret are accepted now. */
export function isAccepted({ until }: Secret): boolean {
  return isActive({ until: until === null ? null : Date.parse(until) }, commandClock.now())
}

/** Advice for an address on this machine; null for a public or unknown one. */
export function adviseReach({ url }: Pick<Endpoint, 'url'>): string | null {
  const isLocal = url !== null && /^http:\/\/(127\.|localhost|0\.0\.0\.0|\[::1?\])/.test(url)
  if (!isLocal) return null
  const { origin } = new URL(url)
  return `The service needs your public https address instead of ${origin}. Set UPSHOT_PUBLIC_URL to print it here.`
}

/** The lines that tell how deliveries are signed. */
export function formatSigning(scheme: SignatureScheme): string[] {
  return [`  Header     ${scheme.header}`, `  Algorithm  ${describeAlgorithm(scheme)}`]
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
