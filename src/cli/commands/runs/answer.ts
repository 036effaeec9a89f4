import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { parseJsonOption } from '../../input/parse-option.ts'
import { call } from '../../open/operations.ts'
import { refrain } from '../../operate/act-command.ts'
import { confirm } from '../../terminal/confirm.ts'

/** `upshot runs answer <run> <hook>`: answers a callback URL in place of its sender. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<run>', 'id of the run, run_…, or its beginning')
    .argument('<hook>', 'step that opened the hook, or its id, as "upshot runs show <run>" names them')
    .option('--data <json>', 'the answer as JSON; default null', parseJsonOption)
    .action((run, named, { data = null }) =>
      project.withOperations(async (operations) => {
        const { items } = await call(operations, 'GET /hooks', { query: { run } })
        const hook = items.find(({ id, step }) => step === named || id === named)
        if (hook === undefined) {
          const known = items.map(({ step }) => `"${step}"`).join(', ')
          const fix = known === '' ? 'It has no hooks.' : `It has: ${known}.`
          throw new UpshotError('not_found', `Run ${run} has no hook "${named}".`, { fix })
        }
        const question = hook.ask === null ? '' : `, which asks: ${hook.ask}`
        const will = `answer hook "${hook.step}" of run ${hook.runId}${question}`
        if (out.given.dryRun) {
          await confirm(out, { will, things: [JSON.stringify(data)] })
          return refrain(out, will)
        }
        const answered = await call(operations, 'POST /hooks/:id/answer', { params: { id: hook.id }, body: { data } })
        out.result(answered, () => [`Answered hook "${answered.step}" of run ${answered.runId}.`])
      }),
    )
}
