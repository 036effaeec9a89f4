import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import { isoTime } from '../../../core/time.ts'
import type { FilesClient } from '../../../files/index.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeIncomplete, findEntry, openFiles, parsePlace, parseTarget } from './files-client.ts'

export function ls(command: Command, { out, project }: Cli): void {
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

export function url(command: Command, { out, project }: Cli): void {
  command
    .argument('<file>', '<service:/path> or <service:id>, such as storage_a:/reports/june.pdf')
    .action(async (text) => {
      const config = await project.load()
      const signal = onInterrupt()
      await using files = await openFiles(config)
      const entry = await findEntry(files, parseTarget(text, config), signal)
      const { url, expiresAt } = await files.downloadUrl(entry, { signal })
      const until = expiresAt === null ? null : isoTime(expiresAt)
      out.result({ url: url.reveal(), expiresAt: until }, () => [url.reveal()])
      out.note(`Anyone with this URL can read the file${until === null ? '' : ` until ${until}`}, without an API key.`)
    })
}

export function get(command: Command, { out, project }: Cli): void {
  command
    .argument('<file>', '<service:/path> or <service:id>, such as storage_a:/reports/june.pdf')
    .option(
      '-o, --output <file>',
      'target file or folder, or - for standard output (default: its name, in this folder)',
    )
    .action(async (text, { output }) => {
      if (output === '-' && (out.given.json || out.given.ndjson)) {
        throw new UpshotError('invalid_request', 'Standard output cannot hold both the file and JSON.', {
          fix: 'Leave out --json, or name a file with --output.',
        })
      }
      const config = await project.load()
      const target = parseTarget(text, config)
      const signal = onInterrupt()
      await using files = await openFiles(config)
      const entry = await findEntry(files, target, signal)
      if (entry.type === 'folder') throw refuseFolder(entry)
      if (output === '-') await print(files, entry, { out, signal })
      else await save(files, entry, { to: await chooseTarget(entry, output), out, signal })
    })
}

type Work = { out: Output; signal: AbortSignal }

async function print(files: FilesClient, entry: FileEntry, { out, signal }: Work): Promise<void> {
  await pipeline(files.stream(entry, { signal }), out.streams.stdout, { end: false })
  out.note(`${entry.service}:${entry.path}, ${formatBytes(entry.size)}`)
}

async function save(files: FilesClient, entry: FileEntry, { to, out, signal }: Work & { to: string }): Promise<void> {
  const from = `${entry.service}:${entry.path}`
  if (existsSync(to) || out.given.dryRun) {
    const will = existsSync(to) ? `replace ${to} with ${from}` : `download ${from} to ${to}`
    if (!(await confirm(out, { will: `${will} (${formatBytes(entry.size)})` }))) {
      out.result({ path: to, from: entry, saved: false }, () => [])
      return
    }
  }
  using progress = showProgress(out, { title: from, total: entry.size, unit: 'bytes' })
  const onProgress = ({ bytes, total }: { bytes: number; total: number | null }) => progress.set(bytes, total)
  const saved = await files.download(entry, { to, onProgress, signal })
  out.result({ ...saved, from: entry, saved: true }, () => [
    `${saved.path}  ${formatBytes(saved.bytes)}  sha256 ${saved.sha256}`,
  ])
  if (saved.resumedFrom > 0) out.note(`Continued from ${formatBytes(saved.resumedFrom)}.`)
}

/** The path to write to. The service's file name is made safe for this machine first. */
async function chooseTarget(entry: FileEntry, output: string | undefined): Promise<string> {
  const { localName } = await import('../../../files/index.ts')
  const isFolder =
    output === undefined || output.endsWith('/') || (existsSync(output) && statSync(output).isDirectory())
  return resolve(isFolder ? join(output ?? '.', localName(entry.name)) : output)
}

function refuseFolder({ service, path }: FileEntry): UpshotError {
  return new UpshotError('invalid_request', `${service}:${path} is a folder.`, {
    fix: `List its entries: upshot files ls ${service}:${path}`,
  })
}
