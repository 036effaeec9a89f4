import type { KeyScope, TransferRecord, Webhook } from '../../../../sandbox/index.ts'
import { formatMoment } from '../../../terminal/format-value.ts'

/** A scope in one line. */
export function describeScope(scope: KeyScope): string {
  if (typeof scope === 'string') return scope
  return `${scope.custom.join(', ') || 'nothing'} on ${scope.storages.join(', ') || 'no storage'}`
}

/** A moment that the sandbox wrote as ISO 8601, for a person. */
export function showTime(iso: string | null, now: number): string | null {
  return iso === null ? null : formatMoment(Date.parse(iso), now)
}

/** One end of a transfer. */
export function describeEnd({ service, path }: TransferRecord['source']): string {
  return `${service}:${path}`
}

/** How far a transfer is, such as `completed` or `failed: …`. */
export function describeProgress({ status, error }: TransferRecord): string {
  return error === undefined ? status : `${status}: ${error.message}`
}

/** A webhook as it may be shown: how many secrets it has, and none of them. */
export function withoutSecrets({ secrets, ...webhook }: Webhook): Omit<Webhook, 'secrets'> & { secrets: number } {
  return { ...webhook, secrets: secrets.length }
}
