import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { verify } from '../../../project/data-dir/maintain-database.ts'
import type { Cli } from '../../command.ts'
import { requireDatabase } from '../../open/open-project.ts'

/** `upshot db verify [file]`: checks a database, changes nothing; exits with 7 if a check fails. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('[file]', 'path of a database or a backup (default: the database of this project)')
    .action(async (file) => {
      const config = await project.load()
      if (file === undefined && !config.database) await requireDatabase(config)
      const report = await verify(config, file === undefined ? undefined : resolve(file))
      out.result(report, () => [
        ...report.checks.map(({ name, passed, found }) => {
          const mark = passed ? out.paint('green', '✓') : out.paint('red', '✗')
          return `${mark} ${name}${passed ? '' : `: ${found}`}`
        }),
        '',
        Object.entries(report.rows)
          .map(([table, count]) => `${table} ${count}`)
          .join(', '),
      ])
      if (report.passed) return
      out.leaveWith('difference')
      out.note(
        config.database && file === undefined
          ? 'Stop the app, and restore the newest backup or moment that passes "upshot db verify".'
          : 'Stop the app, copy the data directory, and restore the newest backup that passes "upshot db verify".',
      )
    })
}
