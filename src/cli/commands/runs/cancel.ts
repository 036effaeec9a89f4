import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../core/time.ts'
import type { Output } from '../../terminal/output.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunChoice } from './select-runs.ts'

/**
 * `upshot runs cancel <id…>`: ends runs at once; a running app aborts what is at work within 50 ms.
 */
export function define(command: Command, out: Output): void {
  addRunChoice(command)
    .argument('[ids...]', 'the runs, run_…, or - for ids on standard input')
    .option('--reason <text>', 'what the runs are to say', 'canceled by hand')
    .action((ids, { reason, ...choice }) =>
      operateOnRuns(
        out,
        {
          operation: 'cancel',
          verb: 'cancel',
          done: 'canceled',
          perform: (store, id) => store.cancelRun(id, reason, systemClock.now()),
        },
        { ids, choice },
      ),
    )
}
