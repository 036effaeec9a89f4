import { openAsBlob, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { WireEntry } from '../../../../sandbox/index.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import type { Output } from '../../../terminal/output.ts'
import { parseSandboxPlace } from '../control/place.ts'
import { atSandbox, findSandbox, isRehearsal, withQuery } from '../control/sandbox-control.ts'

/**
 * `upshot sandbox storage put <file> <storage:/path>`: emits `file.created` where the path is new.
 */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<file>', 'a file of this machine, or - for standard input')
    .argument('<storage:/path>', 'where to; a path that ends in / takes the name of the file', parseSandboxPlace)
    .action(async (file, { storage, path: given }, choice) => {
      if (file === '-' && given.endsWith('/'))
        throw new UpshotError('invalid_request', 'Standard input has no name: write the whole path.')
      const path = given.endsWith('/') ? `${given}${basename(file)}` : given
      const content = file === '-' ? await readAll(out) : await openFile(file)
      const sandbox = await findSandbox(choice)
      if (isRehearsal(out, `put ${formatBytes(content.size)} at ${storage}:${path}`)) return
      const entry = await sandbox.put<WireEntry>(withQuery(`/storages/${storage}/content`, { path }), content)
      out.result({ storage, ...entry }, () => [
        `${storage}:${entry.path}  ${formatBytes(entry.size ?? 0)}  ${entry.id}`,
      ])
    })
}

/** Read as it is sent, however large it is. */
async function openFile(file: string): Promise<Blob> {
  try {
    if (statSync(file).isFile()) return await openAsBlob(file)
  } catch (cause) {
    throw new UpshotError('invalid_request', `The file ${file} cannot be read.`, { cause })
  }
  throw new UpshotError('invalid_request', `${file} is no file.`, {
    details: {
      fix: 'Copy a folder into the directory of the storage instead; "upshot sandbox status" says where it is.',
    },
  })
}

async function readAll({ streams: { stdin } }: Output): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for await (const chunk of stdin ?? []) chunks.push(new Uint8Array(Buffer.from(chunk)))
  return new Blob(chunks)
}
