import type { EffectByHand } from '../../../core/store/safety/effects.ts'

/** A ledger row of a delete by hand. The reason of the person stands in the first one. */
export function describeByHand({ account, target, asked, actor, reason, at }: EffectByHand, phase: 'begun' | 'ended') {
  const { path, bytes } = asked
  const seen = JSON.stringify(asked)
  const about = { account, target, path, bytes, actor, asked: seen, ...(phase === 'begun' && { expect: seen }) }
  const error = phase === 'begun' ? reason : null
  return { ...about, at, phase, class: 'delete', operation: 'files.delete', error } as const
}
