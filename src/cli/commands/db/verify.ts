import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { verify } from '../../../project/data-dir/maintain-database.ts'
import { loadProject } from '../../open/open-project.ts'
import type { Output } from '../../terminal/output.ts'

/** `upshot db verify [file]`: changes nothing. Leaves with 7 where something is wrong. */
export function define(command: Command, out: Output): void {
  command.argument('[file]', 'a database or a backup (default: the database of this project)').action(async (file) => {
    const config = await loadProject()
    const report = verify(config, file === undefined ? undefined : resolve(file))
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
      'Stop the app, keep a copy of the data directory, and restore the newest backup that "upshot db verify" accepts.',
    )
  })
}
