import { UpshotError } from '../../../core/errors.ts'
import type { StoreWrites } from '../../../core/store/store.ts'
import { LimitedRuns } from '../../limited-runs.ts'
import type { Tables } from '../tables.ts'
import { createWriter } from '../writer.ts'
import { type CallChannel, CallLink } from './call-link.ts'
import type { Call } from './messages.ts'

/**
 * A link to the writer thread, and every write by its name. The names come from a writer that never
 * runs.
 */
export function openWrites(channel: CallChannel, tables: Tables): { link: CallLink; writes: StoreWrites } {
  const limited = new LimitedRuns()
  const describeLoss = (why: string) => new UpshotError('store_unavailable', `The store cannot be written: ${why}.`)
  const link = new CallLink(channel, { describeLoss, limited })
  const names = Object.keys(createWriter(tables, { write: () => Promise.reject(new Error('read-only')) }))
  const calls = (names as Call['method'][]).map((name) => [name, (...args: unknown[]) => link.call(name, args)])
  return { link, writes: limited.watchAll(Object.fromEntries(calls)) }
}
