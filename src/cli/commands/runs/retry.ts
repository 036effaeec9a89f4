import type { Command } from '@commander-js/extra-typings'
import type { Output } from '../../terminal/output.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunChoice } from './select-runs.ts'

/**
 * `upshot runs retry <id…>`: failed and canceled runs go on from their failed step, with the same
 * ids and finished steps.
 */
export function define(command: Command, out: Output): void {
  addRunChoice(command)
    .argument('[ids...]', 'the runs, run_…, or - for ids on standard input')
    .addHelpText('after', '\nTo go on from an earlier step, make a new run: upshot runs fork <id> --from-step <step>')
    .action((ids, choice) =>
      operateOnRuns(
        out,
        {
          operation: 'retry',
          verb: 'retry',
          done: 'taken up again',
          perform: (store, id) => store.retryRun(id),
        },
        { ids, choice },
      ),
    )
}
