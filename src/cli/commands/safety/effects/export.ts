import { once } from 'node:events'
import { type Command, Option } from '@commander-js/extra-typings'
import { EFFECT_ROUTES } from '../../../../admin/contract/resources/safety/effects.ts'
import type { Cli } from '../../../command.ts'
import { addSchemaOptions, readSchemaOptions } from '../../../operate/schema-options.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { toCsv } from '../../../terminal/to-csv.ts'
import { addFile, EFFECT_NAMES, readFile } from './effects.ts'

const { query: QUERY } = EFFECT_ROUTES['GET /effects/export']

export function define(command: Command, { out, project }: Cli): void {
  addSchemaOptions(command, QUERY, EFFECT_NAMES)
  addFile(command)
  command
    .addOption(new Option('--format <format>', 'form of the rows').choices(['ndjson', 'csv']).default('ndjson'))
    .action(({ format, ...options }) =>
      project.withOperations(
        async (operations) => {
          const { stdout } = out.streams
          const query = { ...readSchemaOptions(QUERY, options, EFFECT_NAMES), ...readFile(options) }
          let count = 0
          using progress = showProgress(out, { title: 'Exporting', unit: 'count' })
          for await (const lines of readLines(operations.stream('GET /effects/export', { query }))) {
            const text = format === 'csv' ? formatCsv(lines, count === 0) : `${lines.join('\n')}\n`
            if (!out.given.json && !stdout.write(text)) await once(stdout, 'drain')
            count += lines.length
            progress.set(count)
          }
          if (out.given.json) out.result({ rows: count }, () => [])
          out.note(`${count} rows.`)
        },
        { isList: true },
      ),
    )
}

/** Whole lines, as many as have come. */
async function* readLines(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines
  }
}

function formatCsv(lines: readonly string[], isFirst: boolean): string {
  const text = toCsv(lines.map((line) => JSON.parse(line) as Record<string, unknown>).map(flatten))
  return isFirst ? text : text.slice(text.indexOf('\r\n') + 2)
}

/** A state of a file is one cell. */
function flatten(row: Record<string, unknown>): Record<string, string | number | null> {
  const cells = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'number' || value === null ? value : typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return Object.fromEntries(cells)
}
