import type { Command } from '@commander-js/extra-typings'
import { makeLoginLink } from '../../../../app/console/make-login-link.ts'
import { waitUntil } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import type { Operations } from '../../../open/operations.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { tellStory } from '../../runs/show.ts'
import { drawFrame, drawView } from './draw-frame.ts'
import { type Frame, Frames } from './read-frame.ts'
import { openScreen } from './screen.ts'
import { TopKeys } from './top-keys.ts'

const FRAME_MS = 1_000

/** The right to read the database is the right to log in; at a server, a person logs in there. */
async function linkDashboard({ local }: Operations, { system }: Frame): Promise<string[]> {
  if (local === null) return ['The dashboard is at the address of the server, which asks for a login of yours.']
  const { store, config } = local
  const adminUrl = config.admin.url ?? system?.processes[0]?.adminUrl
  if (adminUrl === undefined) return ['No process runs, so no dashboard answers. Start one with: upshot start']
  const { url } = await makeLoginLink(store, { config, adminUrl, role: 'admin' }, commandClock.now())
  return ['The dashboard, with a login that works once within ten minutes:', '', url]
}

export function define(command: Command, { out, project }: Cli): void {
  command.option('--once', 'print one frame and end').action(({ once = false }) =>
    project.withOperations(async (operations) => {
      const frames = new Frames(operations)
      const ended = onInterrupt()
      if (once || !out.isInteractive) {
        const frame = await frames.read(commandClock.now(), '')
        const screen = { paint: out.paint, width: out.width ?? 120, height: 30 }
        return out.result(frame, () => drawFrame(frame, -1, screen))
      }
      const keys = new TopKeys(operations, {
        tellRun: (id) => tellStory(operations, id, { paint: (_style, text) => text, width: screen.width }),
        linkDashboard: (frame) => linkDashboard(operations, frame),
      })
      const screen = openScreen(out, (key) => void keys.press(key).then(redraw, () => {}))
      let frame = await frames.read(commandClock.now(), '')
      const redraw = () => screen.draw(drawView(frame, keys.view(frame), screen))
      try {
        while (!keys.isLeaving && !ended.aborted) {
          redraw()
          const next = commandClock.now() + FRAME_MS
          await waitUntil(commandClock, next, AbortSignal.any([ended, keys.changed()])).catch(() => {})
          frame = await frames.read(commandClock.now(), keys.filter)
        }
      } finally {
        screen.close()
      }
    }),
  )
}
