import type { Command } from '@commander-js/extra-typings'
import { makeLoginLink } from '../../../../app/console/make-login-link.ts'
import type { Store } from '../../../../core/store/store.ts'
import { waitUntil } from '../../../../core/time.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import { databaseFile } from '../../../../project/data-dir/data-files.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { requireLocal } from '../../../open/operations.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { tellStory } from '../../runs/show.ts'
import { drawFrame, drawView } from './draw-frame.ts'
import { type Frame, readFrame } from './read-frame.ts'
import { RecentRoom } from './recent-room.ts'
import { RecentRuns } from './recent-runs.ts'
import { openScreen } from './screen.ts'
import { TopKeys } from './top-keys.ts'

const FRAME_MS = 1_000

/** The address comes from the rows of the processes, so that no process has to answer. */
async function linkDashboard(
  store: Pick<Store, 'saveLoginCode'>,
  config: Config,
  { processes }: Frame,
): Promise<string[]> {
  const adminUrl = config.admin.url ?? processes[0]?.adminUrl
  if (adminUrl === undefined) return ['No process runs, so no dashboard answers. Start one with: upshot start']
  const { url } = await makeLoginLink(store, { config, adminUrl, role: 'admin' }, commandClock.now())
  return ['The dashboard, with a login that works once within ten minutes:', '', url]
}

/** `upshot top`: the load and what needs a person, once a second. It asks the database alone. */
export function define(command: Command, { out, project }: Cli): void {
  command.option('--once', 'print one frame and end').action(({ once = false }) =>
    project.withOperations(async (operations) => {
      const { store, config } = requireLocal(operations)
      const source = {
        store,
        recent: new RecentRuns(store),
        rooms: new RecentRoom(store),
        database: databaseFile(config),
      }
      const read = (filter = '') => readFrame(source, { now: commandClock.now(), filter })
      const ended = onInterrupt()
      if (once || !out.isInteractive) {
        const frame = await read()
        const screen = { paint: out.paint, width: out.width ?? 120, height: 30 }
        out.result(frame, () => drawFrame(frame, -1, screen))
        return
      }
      const keys = new TopKeys(store, {
        tellRun: (id) => tellStory(operations, id, { paint: (_style, text) => text, width: screen.width }),
        linkDashboard: (frame) => linkDashboard(store, config, frame),
      })
      const screen = openScreen(out, (key) => void keys.press(key).then(redraw, () => {}))
      let frame = await read()
      const redraw = () => screen.draw(drawView(frame, keys.view(frame), screen))
      try {
        while (!keys.isLeaving && !ended.aborted) {
          redraw()
          await waitUntil(commandClock, commandClock.now() + FRAME_MS, AbortSignal.any([ended, keys.changed()])).catch(
            () => {},
          )
          frame = await read(keys.filter)
        }
      } finally {
        screen.close()
      }
    }),
  )
}
