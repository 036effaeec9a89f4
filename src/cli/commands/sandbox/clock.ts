import { isoTime, parseDuration } from '../../../core/time.ts'
import { formatSpan } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { atSandbox, isRehearsal, sandboxCommand } from './sandbox-command.ts'

export const show = atSandbox(async ({ out, sandbox }) => showClock(out, await sandbox.get<SandboxTime>('/clock')))

export const advance = sandboxCommand(
  (command) => command.argument('<duration>', 'duration, such as 90s, 16m or 2h'),
  async ({ out, sandbox }, _, by) => {
    parseDuration(by)
    if (isRehearsal(out, `advance the clock by ${by}`)) return
    const { aheadMs } = showClock(out, await sandbox.post<SandboxTime>('/clock/advance', { by }))
    if (aheadMs > 0) out.note("Return to this machine's time: upshot sandbox clock real")
  },
)

export const real = atSandbox(async ({ out, sandbox }) => {
  if (isRehearsal(out, "set the clock to this machine's time")) return
  showClock(out, await sandbox.post<SandboxTime>('/clock/real'))
})

/** The clock, as the control API reports it. */
interface SandboxTime {
  /** Epoch milliseconds. */
  now: number
  mode: 'real' | 'manual'
}

/** Prints the clock, compared with the machine's. */
function showClock(out: Output, { now, mode }: SandboxTime): { aheadMs: number } {
  const aheadMs = now - Date.now()
  const isAhead = Math.abs(aheadMs) >= 1_000
  const distance = formatSpan(0, Math.abs(aheadMs))
  const place = isAhead ? `${distance} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine` : "this machine's time"
  const text = `${isoTime(now)}  ${mode === 'manual' ? 'stands still' : 'runs'}, ${place}`
  const clock = { now: isoTime(now), mode, aheadMs: isAhead ? aheadMs : 0, text }
  out.result(clock, () => [text])
  return clock
}
