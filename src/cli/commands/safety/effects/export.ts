import { once } from 'node:events'
import { type Command, Option } from '@commander-js/extra-typings'
import type { EffectRecord } from '../../../../core/safety/effect.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { isoTime } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { parseSince } from '../../../input/parse-option.ts'
import { toCsv } from '../../../terminal/to-csv.ts'

const PAGE = 1_000

/** `upshot effects export`: the ledger on standard output, oldest first, however long it is. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .addOption(new Option('--format <format>', 'form of the rows').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--since <when>', 'only since then: a duration before now, such as 30d, or an ISO 8601 time', parseSince)
    .action(({ format, since }) =>
      project.withStore(async (store) => {
        const { stdout } = out.streams
        let count = 0
        for await (const rows of readPages(store, since)) {
          const lines = format === 'csv' ? formatCsv(rows, count === 0) : formatNdjson(rows)
          if (!out.given.json && !stdout.write(lines)) await once(stdout, 'drain')
          count += rows.length
        }
        if (out.given.json) out.result({ rows: count }, () => [])
        out.note(`${count} rows.`)
      }),
    )
}

async function* readPages(store: ReadStore, since: number | undefined): AsyncGenerator<EffectRecord[]> {
  for (let after = 0; ; ) {
    const rows = await store.listEffects({ after, limit: PAGE, ...(since === undefined ? {} : { since }) })
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    after = rows.at(-1)?.seq ?? after
  }
}

function formatCsv(rows: readonly EffectRecord[], isFirst: boolean): string {
  const text = toCsv(rows.map(({ at, ...row }) => ({ ...row, at: isoTime(at) })))
  return isFirst ? text : text.slice(text.indexOf('\r\n') + 2)
}

function formatNdjson(rows: readonly EffectRecord[]): string {
  return rows
    .map(
      ({ at, asked, ...row }) => `${JSON.stringify({ ...row, at: isoTime(at), asked: JSON.parse(asked ?? 'null') })}\n`,
    )
    .join('')
}
