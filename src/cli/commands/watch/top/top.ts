import type { Command } from '@commander-js/extra-typings'
import { waitUntil } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { drawFrame } from './draw-frame.ts'
import { Frames } from './read-frame.ts'

const FRAME_MS = 1_000
/** A screen of its own without a cursor, and the terminal as it was. */
const ENTER = '\u001B[?1049h\u001B[?25l'
const LEAVE = '\u001B[?25h\u001B[?1049l'
const HOME = '\u001B[H'
const CLEAR_LINE = '\u001B[K'
const CLEAR_BELOW = '\u001B[J'

export function define(command: Command, { out, project }: Cli): void {
  command.option('--once', 'print one frame and end').action(({ once = false }) =>
    project.withOperations(async (operations) => {
      const frames = new Frames(operations)
      const ended = onInterrupt()
      const { paint } = out
      if (once || !out.isWatched) {
        const frame = await frames.read(commandClock.now())
        return out.result(frame, () => drawFrame(frame, { paint, width: out.width ?? 120, height: 30 }))
      }
      const terminal = out.streams.stdout as NodeJS.WritableStream & { columns?: number; rows?: number }
      terminal.write(ENTER)
      try {
        while (!ended.aborted) {
          const frame = await frames.read(commandClock.now())
          const { columns: width = 80, rows: height = 24 } = terminal
          const note = paint('dim', '"upshot runs show <run>" shows why. Ctrl-C leaves.')
          const lines = [...drawFrame(frame, { paint, width, height: height - 1 }), note]
          terminal.write(`${HOME}${lines.map((line) => line + CLEAR_LINE).join('\r\n')}${CLEAR_BELOW}`)
          await waitUntil(commandClock, commandClock.now() + FRAME_MS, ended).catch(() => {})
        }
      } finally {
        terminal.write(LEAVE)
      }
    }),
  )
}
