import { isoTime } from '../../../../core/time.ts'
import { formatSpan } from '../../../terminal/format-value.ts'

/** The clock, as the control API reports it. */
export interface SandboxTime {
  /** Epoch milliseconds. */
  now: number
  mode: 'real' | 'manual'
}

/** The clock for JSON and text, compared with the machine's. Both times in epoch milliseconds. */
export function describeClock({ now, mode }: SandboxTime, machineNow: number) {
  const aheadMs = now - machineNow
  const isAhead = Math.abs(aheadMs) >= 1_000
  const distance = formatSpan(0, Math.abs(aheadMs))
  const place = isAhead ? `${distance} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine` : "this machine's time"
  const text = `${isoTime(now)}  ${mode === 'manual' ? 'stands still' : 'runs'}, ${place}`
  return { now: isoTime(now), mode, aheadMs: isAhead ? aheadMs : 0, text }
}
