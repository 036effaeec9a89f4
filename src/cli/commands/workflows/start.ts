import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { parseJsonOption } from '../../input/parse-option.ts'
import { readText } from '../../input/read-source.ts'
import { call } from '../../open/operations.ts'
import { refrain } from '../../operate/act-command.ts'

/** `upshot workflows start <id>`: a run of a callable workflow, with an input. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of a callable workflow: one with `on: callable(…)`')
    .option('--input <json>', 'the input as JSON (default: null)', parseJsonOption)
    .option('--file <file>', 'file with the input as JSON')
    .option('--account <name>', 'account that it acts for', 'default')
    .option('--once <key>', 'a second start with this key within 24 h starts nothing, and prints the first run')
    .action((id, { input = null, file, account, once }) =>
      project.withOperations(async (operations) => {
        const params = { id }
        if (out.given.dryRun) {
          await call(operations, 'GET /workflows/:id', { params })
          return refrain(out, `start the workflow ${id}`)
        }
        const body = { input: file === undefined ? input : parseJsonOption(readText(file)), account }
        const options = once === undefined ? {} : { idempotencyKey: once }
        const run = await call(operations, 'POST /workflows/:id/start', { params, body }, options)
        out.result(run, () => [run.id])
        out.note(`Show the run: upshot runs show ${run.id}`)
      }),
    )
}
