import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { planFork } from '../../../core/runs/step.ts'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { requireRun } from './select-runs.ts'

/**
 * `upshot runs fork <id> --from-step <step>`: a new run with the results of the steps before, and
 * new ones from there on.
 */
export function define(command: Command, out: Output): void {
  command
    .argument('<id>', 'the run to start from, run_…')
    .requiredOption('--from-step <step>', 'the first step that is done anew, as "upshot runs show" names it')
    .option('--set-output <json>', 'do not do that step either, but take this for its result')
    .action((id, { fromStep, setOutput }) =>
      withStore(async (store) => {
        const source = await requireRun(store, id)
        const keys = planFork(await store.listSteps(id), fromStep)
        const edited = setOutput === undefined ? null : { key: fromStep, output: parseOutput(setOutput) }
        const plan = { from: id, workflow: source.workflow, fromStep, keeps: keys, edited: edited !== null }
        if (out.given.dryRun) {
          await confirm(out, { will: `fork ${id} with ${keys.length} finished steps`, things: keys })
          return out.result({ ...plan, dryRun: true }, () => [`A new run would keep ${keys.length} finished steps.`])
        }
        const run = await store.forkRun(id, { keys, edited }, systemClock.now())
        out.result({ ...plan, run, dryRun: false }, () => [`${run} goes on from step "${fromStep}" of ${id}.`])
        out.note(`See what it does: upshot runs show ${run}`)
      }),
    )
}

function parseOutput(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch (cause) {
    throw new UpshotError('invalid_request', `The value of --set-output is no JSON.`, {
      cause,
      details: { fix: `Write JSON, text in double quotes: --set-output '{"size": 12}' or --set-output '"text"'.` },
    })
  }
}
