import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunTargets } from './select-runs.ts'

const RESOLVE = { kind: 'resolve', act: 'resolve', verb: 'resolve', done: 'resolved' } as const
const UNDO = {
  ...({ kind: 'unresolve', act: 'unresolve' } as const),
  ...{ verb: 'take back the resolution of', done: 'no longer resolved' },
} as const

/** `upshot runs resolve <id…>`: marks failed runs as resolved, or takes that back. */
export function define(command: Command, cli: Cli): void {
  addRunTargets(command)
    .option('--undo', 'take it back: the runs count as failures again')
    .action((ids, { undo, ...options }) => {
      if (!undo && cli.project.operator.reason === null) {
        throw new UpshotError('invalid_request', 'A resolved run keeps the reason, and none was given.', {
          details: { fix: 'Say what was done: upshot runs resolve <id> --reason "copied by hand"' },
        })
      }
      return operateOnRuns(cli, undo ? UNDO : RESOLVE, { ids, options })
    })
}
