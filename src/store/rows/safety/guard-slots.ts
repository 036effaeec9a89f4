import type { EffectClass } from '../../../core/safety/effect.ts'
import { type EffectSource, firstSlot, listScopes, slotOf, WINDOWS } from '../../../core/safety/guard.ts'

/** `approved`: by a person. Such effects are counted apart and fill no window. */
export type UseClass = EffectClass | 'approved'

/** The windows that end by time. */
export const TIMED = ['hour', 'day'] as const

/** The counters that an effect of this source fills; `width` 0: the run, in all. */
export function guardSlots(source: EffectSource, now: number) {
  const { run, shares, ...timed } = listScopes(source)
  const ofRun = [run, ...shares].map((scope) => ({ scope, width: 0, slot: 0, oldest: 0 }))
  const ofTime = Object.values(timed).flatMap((scope) =>
    scope === null
      ? []
      : TIMED.map((window) => {
          const slot = slotOf(window, now)
          // Kept twice as long as it counts, for a clock that is set back.
          const oldest = firstSlot(window, now) * 2 - slot
          return { scope, width: WINDOWS[window].slotMs, slot, oldest }
        }),
  )
  return [...ofTime, ...ofRun]
}
