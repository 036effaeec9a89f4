import type { Command } from '@commander-js/extra-typings'
import { isoTime } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { findEntry, parseTarget } from './file-target.ts'
import { openFiles } from './files-client.ts'

/** `upshot files url <file>`: a temporary download URL, which needs no API key. */
export function define(command: Command, { out, project }: Cli): void {
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
