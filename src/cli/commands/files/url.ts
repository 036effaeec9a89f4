import type { Command } from '@commander-js/extra-typings'
import { isoTime } from '../../../core/time.ts'
import { loadProject } from '../../open/open-project.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { findEntry, parseTarget } from './file-target.ts'
import { openFiles } from './files-client.ts'

/**
 * `upshot files url <file>`: a temporary address of its bytes, printed because it was asked for.
 */
export function define(command: Command, out: Output): void {
  command
    .argument('<file>', 'service:/path or service:id, such as storage_a:/reports/june.pdf')
    .action(async (text) => {
      const config = await loadProject()
      const signal = onInterrupt()
      await using files = await openFiles(config)
      const entry = await findEntry(files, parseTarget(text, config), signal)
      const { url, expiresAt } = await files.downloadUrl(entry, { signal })
      const until = expiresAt === null ? null : isoTime(expiresAt)
      out.result({ url: url.reveal(), expiresAt: until }, () => [url.reveal()])
      out.note(`Whoever has it can read the file${until === null ? '' : ` until ${until}`}, without a key.`)
    })
}
