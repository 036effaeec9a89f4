import { hash } from 'node:crypto'
import { UpshotError } from '../errors.ts'
import { newId } from '../ids.ts'
import { toJson } from '../json.ts'
import type { HookAnswer, HookRecord } from './hook.ts'
import { findMisfits } from './json-schema.ts'

/**
 * The answer that a person gives in place of the sender. Throws `invalid_request` where it does not
 * fit what is asked.
 */
export function planWord(
  { id, data: schema, isMany }: Pick<HookRecord, 'id' | 'data' | 'isMany'>,
  { data, by, now }: { data: unknown; by: string; now: number },
): HookAnswer {
  const faults = findMisfits(schema, data)
  if (faults.length > 0) {
    const told = faults.map(({ at, fault }) => (at === '' ? fault : `${at}: ${fault}`)).join('; ')
    throw new UpshotError('invalid_request', `The answer does not fit: ${told}.`, { details: { faults } })
  }
  const text = toJson(data, 'The answer')
  const sameness = hash('sha256', isMany ? newId('hok', now) : text)
  const bodyBytes = Buffer.byteLength(text)
  return { hook: id, delivery: null, by, data: text, sameness, receivedAt: now, bodyBytes, facts: {} }
}
