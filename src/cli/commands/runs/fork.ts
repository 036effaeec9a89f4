import type { Command } from '@commander-js/extra-typings'
import { planFork } from '../../../core/runs/step.ts'
import type { Cli } from '../../command.ts'
import { parseJsonOption } from '../../input/parse-option.ts'
import { call } from '../../open/operations.ts'
import { refrain } from '../../operate/act-command.ts'
import { confirm } from '../../terminal/confirm.ts'

const MAX_STEPS = 5_000

/** `upshot runs fork <id> --from-step <step>`: a new run that keeps the results before the step. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the run to fork, run_…, or its beginning')
    .requiredOption('--from-step <step>', 'first step to run again, as named by "upshot runs show <id>"')
    .option('--set-output <json>', 'do not run that step; use this JSON as its result', parseJsonOption)
    .action((id, { fromStep, setOutput: output }) =>
      project.withOperations(async (operations) => {
        const params = { id }
        if (out.given.dryRun) {
          const { items } = await call(operations, 'GET /runs/:id/steps', { params, query: { limit: MAX_STEPS } })
          const keeps = planFork(items, fromStep)
          const will = `fork ${id} with ${keeps.length} finished steps`
          await confirm(out, { will, things: keeps })
          return refrain(out, will)
        }
        const body = { fromStep, ...(output === undefined ? {} : { output }) }
        const run = await call(operations, 'POST /runs/:id/fork', { params, body })
        out.result(run, () => [`${run.id} continues from step "${fromStep}" of ${run.originRun}.`])
        out.note(`Show the run: upshot runs show ${run.id}`)
      }),
    )
}
