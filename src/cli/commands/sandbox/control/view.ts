import type { KeyScope, TransferRecord, Webhook } from '../../../../sandbox/index.ts'
import { formatMoment } from '../../../terminal/format-value.ts'

/** A scope in words, such as `read-only`. */
export function describeScope(scope: KeyScope): string {
  if (typeof scope === 'string') return scope
  return `${scope.custom.join(', ') || 'nothing'} on ${scope.storages.join(', ') || 'no storage'}`
}

/** An ISO 8601 time for a person. */
export function showTime(iso: string | null, now: number): string | null {
  return iso === null ? null : formatMoment(Date.parse(iso), now)
}

/** One end of a transfer, such as `storage_a:/in`. */
export function describeEnd({ service, path }: TransferRecord['source']): string {
  return `${service}:${path}`
}

/** The status of a transfer, such as `completed` or `failed: …`. */
export function describeProgress({ status, error }: TransferRecord): string {
  return error === undefined ? status : `${status}: ${error.message}`
}

/** A webhook with the number of its secrets instead of their values. */
export function withoutSecrets({ secrets, ...webhook }: Webhook): Omit<Webhook, 'secrets'> & { secrets: number } {
  return { ...webhook, secrets: secrets.length }
}
