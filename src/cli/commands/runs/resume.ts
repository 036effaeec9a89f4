import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { operateOnRuns } from './operate-on-runs.ts'
import { addRunTargets } from './select-runs.ts'

const RESUME = { kind: 'resume', act: 'resume', verb: 'resume', done: 'resumed' } as const
const RESTART = {
  ...({ kind: 'restart', act: 'resume', verb: 'restart from scratch', done: 'restarted' } as const),
  ...{ body: { fromScratch: true }, isDestructive: true },
} as const

/** `upshot runs resume <id…>`: resumes runs that wait for a person. */
export function define(command: Command, cli: Cli): void {
  addRunTargets(command)
    .option('--restart', 'discard all steps and start again; effects are repeated')
    .action((ids, { restart, ...options }) => operateOnRuns(cli, restart ? RESTART : RESUME, { ids, options }))
}
