import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { WireEntry } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { parseSandboxPlace } from '../control/place.ts'
import { atSandbox, findSandbox, withQuery } from '../control/sandbox-control.ts'
import { showTime } from '../control/view.ts'

/** `upshot sandbox storage ls <storage:/path>`: the entries of a folder, ordered by path. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<storage:/path>', 'a folder, such as storage_a:/in', parseSandboxPlace)
    .option('--recursive', 'include the entries of its subfolders')
    .action(async ({ storage, path }, { recursive = false, ...choice }) => {
      const sandbox = await findSandbox(project, choice)
      const entries = await sandbox.get<WireEntry[]>(withQuery(`/storages/${storage}`, { path, recursive }))
      out.result(entries, () => formatTable(entries, columns(systemClock.now()), out))
      if (entries.length === 0) out.note(`There is nothing in ${storage}:${path}.`)
    })
}

function columns(now: number): Column<WireEntry>[] {
  return [
    { title: 'PATH', value: ({ path, type }) => (type === 'folder' ? `${path}/` : path) },
    { title: 'SIZE', value: ({ size }) => formatBytes(size ?? null), align: 'right' },
    { title: 'MODIFIED', value: ({ modifiedAt }) => showTime(modifiedAt, now) },
    { title: 'ID', value: ({ id }) => id },
  ]
}
