import { once } from 'node:events'
import { type Command, Option } from '@commander-js/extra-typings'
import type { EffectRecord } from '../../../../core/safety/effect.ts'
import type { EffectFilter } from '../../../../core/store/safety/effects.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { isoTime } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { toCsv } from '../../../terminal/to-csv.ts'
import { addFilter, findFilter } from './effect-filter.ts'
import { describeEffect } from './effect-view.ts'

const PAGE = 1_000

/** `upshot effects export`: the ledger on standard output, oldest first, however long it is. */
export function define(command: Command, { out, project }: Cli): void {
  addFilter(command)
    .addOption(new Option('--format <format>', 'form of the rows').choices(['ndjson', 'csv']).default('ndjson'))
    .action(({ format, ...choice }) =>
      project.withStore(async (store) => {
        const { stdout } = out.streams
        let count = 0
        for await (const rows of readPages(store, await findFilter(store, choice))) {
          const lines = format === 'csv' ? formatCsv(rows, count === 0) : formatNdjson(rows)
          if (!out.given.json && !stdout.write(lines)) await once(stdout, 'drain')
          count += rows.length
        }
        if (out.given.json) out.result({ rows: count }, () => [])
        out.note(`${count} rows.`)
      }),
    )
}

/** Reads the next page once this one is written. */
async function* readPages(store: ReadStore, filter: EffectFilter): AsyncGenerator<EffectRecord[]> {
  for (let beyond: EffectRecord | null = null; ; ) {
    const rows: EffectRecord[] = await store.pageEffects({ ...filter, beyond, limit: PAGE })
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    beyond = rows.at(-1) ?? beyond
  }
}

function formatCsv(rows: readonly EffectRecord[], isFirst: boolean): string {
  const text = toCsv(rows.map(({ at, ...row }) => ({ ...row, at: isoTime(at) })))
  return isFirst ? text : text.slice(text.indexOf('\r\n') + 2)
}

function formatNdjson(rows: readonly EffectRecord[]): string {
  return rows.map((row) => `${JSON.stringify(describeEffect(row))}\n`).join('')
}
