import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunTargets } from './select-runs.ts'

/** `upshot runs cancel <id…>`: cancels runs; a running app aborts them within 50 ms. */
export function define(command: Command, cli: Cli): void {
  const work = { kind: 'cancel', act: 'cancel', verb: 'cancel', done: 'canceled' } as const
  addRunTargets(command).action((ids, options) => operateOnRuns(cli, work, { ids, options }))
}
