import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunTargets } from './select-runs.ts'

/** `upshot runs retry <id…>`: retries runs from the failed step, keeping ids and finished steps. */
export function define(command: Command, { out, project }: Cli): void {
  addRunTargets(command)
    .addHelpText('after', '\nTo start from an earlier step, fork the run: upshot runs fork <id> --from-step <step>')
    .action((ids, choice) =>
      operateOnRuns(
        { out, project },
        {
          kind: 'retry',
          verb: 'retry',
          done: 'retried',
          perform: (store, id) => store.retryRun(id, commandClock.now()),
        },
        { ids, choice },
      ),
    )
}
