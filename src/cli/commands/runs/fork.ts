import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { planFork } from '../../../core/runs/step.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { requireRun } from '../../open/find-run.ts'
import { confirm } from '../../terminal/confirm.ts'

/** `upshot runs fork <id> --from-step <step>`: a new run that keeps the results before the step. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the run to fork, run_…, or its beginning')
    .requiredOption('--from-step <step>', 'first step to run again, as named by "upshot runs show <id>"')
    .option('--set-output <json>', 'do not run that step; use this JSON as its result')
    .action((named, { fromStep, setOutput }) =>
      project.withStore(async (store) => {
        const source = await requireRun(store, named)
        const { id } = source
        const keys = planFork(await store.listSteps(id), fromStep)
        const edited = setOutput === undefined ? null : { key: fromStep, output: parseOutput(setOutput) }
        const plan = { from: id, workflow: source.workflow, fromStep, keeps: keys, edited: edited !== null }
        if (out.given.dryRun) {
          await confirm(out, { will: `fork ${id} with ${keys.length} finished steps`, things: keys })
          return out.result({ ...plan, dryRun: true }, () => [`A new run would keep ${keys.length} finished steps.`])
        }
        const run = await store.forkRun(id, { keys, edited }, commandClock.now())
        out.result({ ...plan, run, dryRun: false }, () => [`${run} continues from step "${fromStep}" of ${id}.`])
        out.note(`Show the run: upshot runs show ${run}`)
      }),
    )
}

function parseOutput(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch (cause) {
    throw new UpshotError('invalid_request', 'The value of --set-output is not JSON.', {
      cause,
      details: { fix: `Give JSON, with text in double quotes: --set-output '{"size": 12}' or --set-output '"text"'.` },
    })
  }
}
