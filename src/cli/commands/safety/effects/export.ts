import { once } from 'node:events'
import type { Command } from '@commander-js/extra-typings'
import { EFFECT_ROUTES } from '../../../../admin/contract/resources/safety/effects.ts'
import type { Cli } from '../../../command.ts'
import { addSchemaOptions, readSchemaOptions } from '../../../operate/schema-options.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { addFile, EFFECT_NAMES, readFile } from './effects.ts'

const { query: QUERY } = EFFECT_ROUTES['GET /effects/export']

export function define(command: Command, { out, project }: Cli): void {
  addSchemaOptions(command, QUERY, EFFECT_NAMES)
  addFile(command)
  command.action((options) =>
    project.withOperations(
      async (operations) => {
        const { stdout } = out.streams
        const query = { ...readSchemaOptions(QUERY, options, EFFECT_NAMES), ...readFile(options) }
        let count = 0
        using progress = showProgress(out, { title: 'Exporting', unit: 'count' })
        for await (const chunk of operations.stream('GET /effects/export', { query })) {
          if (!out.given.json && !stdout.write(chunk)) await once(stdout, 'drain')
          count += Buffer.from(chunk).filter((byte) => byte === LINE_END).length
          progress.set(count)
        }
        if (out.given.json) out.result({ rows: count }, () => [])
        out.note(`${count} rows.`)
      },
      { isList: true },
    ),
  )
}

/** Of each row. */
const LINE_END = 10
