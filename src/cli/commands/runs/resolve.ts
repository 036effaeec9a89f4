import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunTargets } from './select-runs.ts'

/** `upshot runs resolve <id…>`: marks failed runs as resolved, or takes that back. */
export function define(command: Command, { out, project }: Cli): void {
  addRunTargets(command)
    .option('--undo', 'take it back: the runs count as failures again')
    .action((ids, { undo = false, ...choice }) => {
      if (undo) {
        return operateOnRuns(
          { out, project },
          {
            kind: 'unresolve',
            verb: 'take back the resolution of',
            done: 'no longer resolved',
            perform: (store, id) => store.unresolveRun(id),
          },
          { ids, choice },
        )
      }
      const { actor: by, reason } = project.operator
      if (reason === null) throw describeMissing()
      return operateOnRuns(
        { out, project },
        {
          kind: 'resolve',
          verb: 'resolve',
          done: 'resolved',
          perform: (store, id) => store.resolveRun(id, { by, at: commandClock.now(), reason }),
        },
        { ids, choice },
      )
    })
}

function describeMissing(): UpshotError {
  return new UpshotError('invalid_request', 'A resolved run keeps the reason, and none was given.', {
    details: { fix: 'Say what was done: upshot runs resolve <id> --reason "copied by hand"' },
  })
}
