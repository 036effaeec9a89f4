import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunTargets } from './select-runs.ts'

/** `upshot runs retry <id…>`: retries runs from the failed step, keeping ids and finished steps. */
export function define(command: Command, cli: Cli): void {
  const work = { kind: 'retry', act: 'retry', verb: 'retry', done: 'retried' } as const
  addRunTargets(command)
    .addHelpText('after', '\nTo start from an earlier step, fork the run: upshot runs fork <id> --from-step <step>')
    .action((ids, options) => operateOnRuns(cli, work, { ids, options }))
}
