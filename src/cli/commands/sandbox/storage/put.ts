import { openAsBlob, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { WireEntry } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import type { Output } from '../../../terminal/output.ts'
import { parseSandboxPlace } from '../control/place.ts'
import { atSandbox, findSandbox, isRehearsal, withQuery } from '../control/sandbox-control.ts'

/** `upshot sandbox storage put <file> <storage:/path>`: emits `file.created` for a new path. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<file>', 'local file, or - for standard input')
    .argument('<storage:/path>', 'target path; after a final / the name of the file is added', parseSandboxPlace)
    .action(async (file, { storage, path: given }, choice) => {
      if (file === '-' && given.endsWith('/'))
        throw new UpshotError('invalid_request', 'Standard input has no file name to add to the path.', {
          details: { fix: 'Write the whole path, such as storage_a:/in/report.pdf.' },
        })
      const path = given.endsWith('/') ? `${given}${basename(file)}` : given
      const content = file === '-' ? await readAll(out) : await openFile(file)
      const sandbox = await findSandbox(project, choice)
      if (isRehearsal(out, `put ${formatBytes(content.size)} at ${storage}:${path}`)) return
      const entry = await sandbox.put<WireEntry>(withQuery(`/storages/${storage}/content`, { path }), content)
      out.result({ storage, ...entry }, () => [
        `${storage}:${entry.path}  ${formatBytes(entry.size ?? 0)}  ${entry.id}`,
      ])
    })
}

/** The content of a file of any size; it is read while it is sent. */
async function openFile(file: string): Promise<Blob> {
  try {
    if (statSync(file).isFile()) return await openAsBlob(file)
  } catch (cause) {
    throw new UpshotError('invalid_request', `Cannot read the file ${file}.`, {
      cause,
      details: { fix: 'Name a file that exists and that this user may read.' },
    })
  }
  throw new UpshotError('invalid_request', `${file} is not a file.`, {
    details: {
      fix: 'Copy a folder into the directory of the storage, which "upshot sandbox status" prints.',
    },
  })
}

async function readAll({ streams: { stdin } }: Output): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for await (const chunk of stdin ?? []) chunks.push(new Uint8Array(Buffer.from(chunk)))
  return new Blob(chunks)
}
