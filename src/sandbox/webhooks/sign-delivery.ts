import { signBody } from '../../core/incoming/signature.ts'
import type { Webhook } from './webhooks.ts'

/** Age of a stale signature: more than any receiver tolerates. */
export const STALE_BY_MS = 3_600_000
/** A secret of no webhook that decodes in every scheme. */
export const WRONG_SECRET = 'deadbeefdeadbeefdeadbeefdeadbeef'

/**
 * The signature headers of an attempt. Schemes with room for several signatures get one per secret,
 * others one of the first.
 */
export function signDelivery(webhook: Webhook, id: string, body: Uint8Array, now: number): Record<string, string> {
  const { scheme, secrets } = webhook
  const [first = {}, ...more] = secrets.map((secret) => signBody(scheme, secret, { id, body }, now))
  const separator = { versions: ' ', pairs: ',', plain: null, prefix: null }[scheme.grammar]
  if (separator === null) return first
  const signatures = more.map((headers) => headers[scheme.header]?.replace(/^t=\d+,/, '') ?? '')
  return { ...first, [scheme.header]: [first[scheme.header], ...signatures].join(separator) }
}
