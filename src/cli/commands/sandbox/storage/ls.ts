import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { WireEntry } from '../../../../sandbox/index.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { parseSandboxPlace } from '../control/place.ts'
import { atSandbox, findSandbox, withQuery } from '../control/sandbox-control.ts'
import { showTime } from '../control/view.ts'

/** `upshot sandbox storage ls <storage:/path>`: in order of path. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<storage:/path>', 'a folder, such as storage_a:/in', parseSandboxPlace)
    .option('--recursive', 'the folders in it too')
    .action(async ({ storage, path }, { recursive = false, ...choice }) => {
      const sandbox = await findSandbox(choice)
      const entries = await sandbox.get<WireEntry[]>(withQuery(`/storages/${storage}`, { path, recursive }))
      out.result(entries, () => formatTable(entries, columns(systemClock.now()), out.paint))
      if (entries.length === 0) out.note(`Nothing is in ${storage}:${path}.`)
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
