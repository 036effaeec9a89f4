import type { Command } from '@commander-js/extra-typings'
import type { Output } from '../../terminal/output.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunChoice } from './select-runs.ts'

/** `upshot runs resume <id…>`: for runs that wait for a person. */
export function define(command: Command, out: Output): void {
  addRunChoice(command)
    .argument('[ids...]', 'the runs, run_…, or - for ids on standard input')
    .option('--restart', 'forget every step and begin anew: effects happen again')
    .action((ids, { restart = false, ...choice }) =>
      operateOnRuns(
        out,
        {
          operation: 'resume',
          verb: restart ? 'restart from scratch' : 'resume',
          done: restart ? 'restarted' : 'resumed',
          isGrave: restart,
          perform: (store, id) => store.resumeRun(id, { fromScratch: restart }),
        },
        { ids, choice },
      ),
    )
}
