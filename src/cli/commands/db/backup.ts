import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { backUp } from '../../../project/data-dir/maintain-database.ts'
import { loadProject } from '../../open/open-project.ts'
import { requireDatabase } from '../../open/require-database.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'

/** `upshot db backup <file>`: a copy as of one moment, checked, while the app runs. */
export function define(command: Command, out: Output): void {
  command
    .argument('<file>', 'where to; must not exist yet')
    .addHelpText(
      'after',
      '\nTo restore it, stop the app and put it in the place of upshot.db in the data directory, without upshot.db-wal and\nupshot.db-shm.',
    )
    .action(async (target) => {
      const config = await loadProject()
      const to = resolve(target)
      const file = requireDatabase(config)
      if (out.given.dryRun) {
        out.result({ file: to, made: false }, () => [`Would copy ${file} to ${to}.`])
        return
      }
      using progress = showProgress(out, { title: 'Backing up', unit: 'count' })
      const { bytes, rows } = await backUp(config, to, {
        onProgress: ({ done, total }) => progress.set(done, total),
        signal: onInterrupt(),
      })
      out.result({ file: to, made: true, bytes, rows }, () => [
        `Backed up to ${to}: ${formatBytes(bytes)}, ${rows.event} events, ${rows.run} runs. It was read back and is sound.`,
      ])
      out.note(describeKey(config))
    })
}

/**
 * Without the key the webhook secrets in a backup are lost; with it beside, they are not secret.
 */
function describeKey({ dataDir, secretKey }: { dataDir: string; secretKey: string | null }): string {
  const where = secretKey === null ? `${dataDir}/secret.key` : 'UPSHOT_SECRET_KEY'
  return `The secrets in it are sealed with the key in ${where}, which is not in the backup. Keep the key, and keep it apart.`
}
