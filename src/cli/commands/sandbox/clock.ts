import type { Command } from '@commander-js/extra-typings'
import { isoTime, parseDuration } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { formatSpan } from '../../terminal/format-value.ts'
import { atSandbox, findSandbox, isRehearsal } from './sandbox-control.ts'

export function show(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const clock = describeClock(await sandbox.get<SandboxTime>('/clock'), Date.now())
    out.result(clock, () => [clock.text])
  })
}

export function advance(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<duration>', 'duration, such as 90s, 16m or 2h')
    .action(async (by, choice) => {
      parseDuration(by)
      const sandbox = await findSandbox(project, choice)
      if (isRehearsal(out, `advance the clock by ${by}`)) return
      const clock = describeClock(await sandbox.post<SandboxTime>('/clock/advance', { by }), Date.now())
      out.result(clock, () => [clock.text])
      if (clock.aheadMs > 0) out.note("Return to this machine's time: upshot sandbox clock real")
    })
}

export function real(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    if (isRehearsal(out, "set the clock to this machine's time")) return
    const clock = describeClock(await sandbox.post<SandboxTime>('/clock/real'), Date.now())
    out.result(clock, () => [clock.text])
  })
}

/** The clock, as the control API reports it. */
interface SandboxTime {
  /** Epoch milliseconds. */
  now: number
  mode: 'real' | 'manual'
}

/** The clock for JSON and text, compared with the machine's. Both times in epoch milliseconds. */
function describeClock({ now, mode }: SandboxTime, machineNow: number) {
  const aheadMs = now - machineNow
  const isAhead = Math.abs(aheadMs) >= 1_000
  const distance = formatSpan(0, Math.abs(aheadMs))
  const place = isAhead ? `${distance} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine` : "this machine's time"
  const text = `${isoTime(now)}  ${mode === 'manual' ? 'stands still' : 'runs'}, ${place}`
  return { now: isoTime(now), mode, aheadMs: isAhead ? aheadMs : 0, text }
}
