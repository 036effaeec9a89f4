import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunTargets } from './select-runs.ts'

/** `upshot runs resume <id…>`: resumes runs that wait for a person. */
export function define(command: Command, { out, project }: Cli): void {
  addRunTargets(command)
    .option('--restart', 'discard all steps and start again; effects are repeated')
    .action((ids, { restart = false, ...choice }) =>
      operateOnRuns(
        { out, project },
        {
          kind: restart ? 'restart' : 'resume',
          verb: restart ? 'restart from scratch' : 'resume',
          done: restart ? 'restarted' : 'resumed',
          isDestructive: restart,
          perform: (store, id) => store.resumeRun(id, { fromScratch: restart }),
        },
        { ids, choice },
      ),
    )
}
