import type { EffectRecord } from '../../core/safety/effect.ts'
import { withIsoTimes } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import { seesPayloads } from './run-view.ts'

/** A row of the effect ledger as the API gives it; a viewer sees no path. */
export function describeEffect(
  { asked, expect, before, eventSeq: _, ...row }: EffectRecord,
  caller: Pick<Caller, 'role'>,
) {
  const isSeen = seesPayloads(caller)
  const read = (text: string | null) => (isSeen && text !== null ? (JSON.parse(text) as unknown) : null)
  return {
    ...withIsoTimes(row),
    path: isSeen ? row.path : null,
    ...{ asked: read(asked), expect: read(expect), before: read(before) },
  }
}
