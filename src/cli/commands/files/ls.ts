import type { Command } from '@commander-js/extra-typings'
import type { FileEntry } from '../../../core/service/file.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeIncomplete } from './describe-incomplete.ts'
import { openFiles, parsePlace } from './files-client.ts'

/** `upshot files ls <service:/path>`: oldest first, so that new entries do not shift the pages. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<service:/path>', 'a folder, such as storage_a:/reports')
    .option('--recursive', 'include the entries of its subfolders')
    .option('--limit <n>', 'maximum number of entries, 1 to 50000, oldest first', countUpTo(50_000), 1_000)
    .action(async (text, { recursive = false, limit }) => {
      const config = await project.load()
      const place = parsePlace(text, config)
      await using files = await openFiles(config)
      const options = { max: limit, verify: false, signal: onInterrupt() }
      const { items, reason } = await files.snapshot({ ...place, recursive }, options)
      out.result(items, () => formatTable(items, columns(commandClock.now()), out))
      if (items.length === 0) out.note(`There is nothing at ${place.service}:${place.path}.`)
      if (reason === 'max') out.note(`There are more than these ${items.length} entries. Show more with --limit.`)
      // A list of several pages, read once, is what one expects of `ls`.
      else if (reason !== null && reason !== 'unverified') out.note(describeIncomplete(reason))
    })
}

function columns(now: number): Column<FileEntry>[] {
  return [
    { title: 'PATH', value: ({ path, type }) => (type === 'folder' ? `${path}/` : path) },
    { title: 'SIZE', value: ({ size }) => formatBytes(size), align: 'right' },
    { title: 'MODIFIED', value: ({ modifiedAt }) => (modifiedAt === null ? null : showTime(modifiedAt, now)) },
    { title: 'TYPE', value: ({ type, mimeType }) => mimeType ?? type },
    { title: 'ID', value: ({ id }) => id },
  ]
}

/** The service's time for a person; unchanged if it is not a valid time. */
function showTime(text: string, now: number): string | null {
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? text : formatMoment(moment, now)
}
