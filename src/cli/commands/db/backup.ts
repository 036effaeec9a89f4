import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { takeAnchor } from '../../../app/health/take-anchor.ts'
import { UpshotError } from '../../../core/errors.ts'
import { formatAnchor } from '../../../core/safety/ledger/anchor.ts'
import { withIsoTimes } from '../../../core/time.ts'
import type { DatabaseConfig } from '../../../project/config/database-config.ts'
import { backUp } from '../../../project/data-dir/maintain-database.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { requireDatabase } from '../../open/open-project.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { showProgress } from '../../terminal/progress.ts'

/** `upshot db backup <file>`: a verified copy of one point in time, beside a running app too. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<file>', 'path of the backup; must not exist yet')
    .addHelpText('after', RESTORE)
    .action(async (target) => {
      const config = await project.load()
      const to = resolve(target)
      if (config.database) throw refusePostgres(config.database, to)
      const file = await requireDatabase(config)
      if (out.given.dryRun) {
        out.result({ file: to, made: false }, () => [`Would copy ${file} to ${to}.`])
        return
      }
      // Anchored before, so that the backup contains the seal that the anchor names.
      const anchor = await project.withStore((store) => takeAnchor(store, commandClock, config))
      using progress = showProgress(out, { title: 'Backing up', unit: 'count' })
      const { bytes, rows } = await backUp(config, to, {
        onProgress: ({ done, total }) => progress.set(done, total),
        signal: onInterrupt(),
      })
      out.result({ file: to, made: true, bytes, rows, anchor: anchor && withIsoTimes(anchor) }, () => [
        `Backed up to ${to}: ${formatBytes(bytes)}, ${rows.event} events, ${rows.run} runs.`,
        'The copy was read back and is sound.',
        ...(anchor === null ? [] : [`The end of its effect ledger: ${formatAnchor(anchor)}`]),
      ])
      out.note(describeKey(config))
    })
}

/** PostgreSQL has its own tools, which are better than a copy of rows. */
function refusePostgres({ hosts, schema }: DatabaseConfig, to: string): UpshotError {
  const [{ host, port, database, user } = { host: '', port: 0, database: '', user: '' }] = hosts
  const where = `--host=${host} --port=${port} --username=${user} --dbname=${database}`
  const command = `pg_dump --format=custom --schema=${schema} --file=${to} ${where}`
  return new UpshotError('invalid_request', 'PostgreSQL makes the backups of its databases; nothing was copied.', {
    details: {
      fix: `Run: ${command}. A large database needs pgBackRest, WAL-G or the recovery of its provider.`,
      command,
    },
  })
}

const RESTORE = `
To restore a backup, stop the app, replace upshot.db in the data directory with it, and delete
upshot.db-wal and upshot.db-shm. Then say so: upshot effects restored --reason "…".`

/** Without the key the secrets in a backup are lost; kept with the backup it would reveal them. */
function describeKey({ dataDir, secretKey }: { dataDir: string; secretKey: string | null }): string {
  const where = secretKey === null ? `${dataDir}/secret.key` : 'UPSHOT_SECRET_KEY'
  return `Its secrets are encrypted with the key in ${where}, which is not in the backup. Back up the key separately.`
}
