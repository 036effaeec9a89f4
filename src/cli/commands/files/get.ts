import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import type { FilesClient } from '../../../files/index.ts'
import { loadProject } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { findEntry, parseTarget } from './file-target.ts'
import { openFiles } from './files-client.ts'

/** `upshot files get <file>`: whole or not at all; what an interrupted one left is continued. */
export function define(command: Command, out: Output): void {
  command
    .argument('<file>', 'service:/path or service:id, such as storage_a:/reports/june.pdf')
    .option('-o, --output <file>', 'where to: a file, a folder, or standard output (-) (default: its name, here)')
    .action(async (text, { output }) => {
      if (output === '-' && (out.given.json || out.given.ndjson)) {
        throw new UpshotError('invalid_request', 'Standard output cannot carry both the file and JSON.')
      }
      const config = await loadProject()
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
    const will = existsSync(to) ? `replace ${to} by ${from}` : `download ${from} to ${to}`
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

/** The name comes from the service, so it is made harmless before it names anything here. */
async function chooseTarget(entry: FileEntry, output: string | undefined): Promise<string> {
  const { localName } = await import('../../../files/index.ts')
  const isFolder =
    output === undefined || output.endsWith('/') || (existsSync(output) && statSync(output).isDirectory())
  return resolve(isFolder ? join(output ?? '.', localName(entry.name)) : output)
}

function refuseFolder({ service, path }: FileEntry): UpshotError {
  return new UpshotError('invalid_request', `${service}:${path} is a folder.`, {
    details: { fix: `See what is in it: upshot files ls ${service}:${path}` },
  })
}
