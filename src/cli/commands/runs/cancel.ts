import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunTargets } from './select-runs.ts'

/** `upshot runs cancel <id…>`: cancels runs; a running app aborts them within 50 ms. */
export function define(command: Command, { out, project }: Cli): void {
  const reason = project.operator.reason ?? 'canceled by hand'
  addRunTargets(command).action((ids, choice) =>
    operateOnRuns(
      { out, project },
      {
        kind: 'cancel',
        verb: 'cancel',
        done: 'canceled',
        perform: (store, id) => store.cancelRun(id, reason, commandClock.now()),
      },
      { ids, choice },
    ),
  )
}
