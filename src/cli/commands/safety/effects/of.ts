import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { call } from '../../../open/operations.ts'
import { tellEffect } from './tell-effect.ts'

/** `upshot effects of <file>`: who did what to it, when, by which run and whose word. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<file>', 'a path such as /out/a.mov, or a target such as storage_a:fil_1').action((file) =>
    project.withOperations(async (operations) => {
      const { items } = await call(operations, 'GET /effects/of-file', { query: { file } })
      out.result(items, () => items.flatMap((row) => tellEffect(row, commandClock.now())))
    }),
  )
}
