import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import type { FilesClient } from '../../../files/index.ts'
import type { Cli } from '../../command.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { findEntry, parseTarget } from './file-target.ts'
import { openFiles } from './files-client.ts'

/** `upshot files get <file>`: downloads a file, and continues an interrupted download. */
export function define(command: Command, { out, project }: Cli): void {
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
