import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunChoice } from './select-runs.ts'

/** `upshot runs cancel <id…>`: cancels runs; a running app aborts them within 50 ms. */
export function define(command: Command, { out, project }: Cli): void {
  const reason = project.operator.reason ?? 'canceled by hand'
  addRunChoice(command)
    .argument('[ids...]', 'ids of the runs, run_…, or their beginnings; or - to read ids from standard input')
    .action((ids, choice) =>
      operateOnRuns(
        { out, project },
        {
          operation: 'cancel',
          verb: 'cancel',
          done: 'canceled',
          perform: (store, id) => store.cancelRun(id, reason, commandClock.now()),
        },
        { ids, choice },
      ),
    )
}
