import { signBody } from '../../core/incoming/signature.ts'
import type { Webhook } from './webhooks.ts'

/**
 * The signature headers of one attempt. Grammars that hold several signatures carry one of each
 * secret; others the first's.
 */
export function signDelivery(webhook: Webhook, id: string, body: Uint8Array, now: number): Record<string, string> {
  const { scheme, secrets } = webhook
  const [first = {}, ...more] = secrets.map((secret) => signBody(scheme, secret, { id, body }, now))
  const separator = { versions: ' ', pairs: ',', plain: null, prefix: null }[scheme.grammar]
  if (separator === null) return first
  const signatures = more.map((headers) => headers[scheme.header]?.replace(/^t=\d+,/, '') ?? '')
  return { ...first, [scheme.header]: [first[scheme.header], ...signatures].join(separator) }
}
