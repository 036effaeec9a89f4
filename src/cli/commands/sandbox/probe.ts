import type { Command } from '@commander-js/extra-typings'
import type { ProbeCheck, ProbeReport } from '../../../sandbox/index.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { atSandbox, findSandbox, isRehearsal } from './control/sandbox-control.ts'
import { chooseWebhook } from './control/webhook.ts'

/**
 * `upshot sandbox probe <endpoint>`: leaves with 7 where the receiver did not do what it should.
 */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<endpoint>', "an endpoint of the project, or a webhook's id or URL")
    .addHelpText(
      'after',
      '\nIts events are of the type sandbox.probe. Forged, tampered, stale and oversized ones are among them.',
    )
    .action(async (name, choice) => {
      const sandbox = await findSandbox(choice)
      const { id, url } = await chooseWebhook(sandbox, name)
      if (isRehearsal(out, `probe ${url}`)) return
      const { passed, checks } = await sandbox.post<ProbeReport>(`/webhooks/${id}/probe`)
      out.result({ webhook: id, url, passed, checks }, () => [
        ...formatTable(checks, COLUMNS, out.paint),
        '',
        passed ? `${url} does what it should.` : `${url} does not do what it should.`,
      ])
      if (!passed) out.leaveWith('difference')
    })
}

const COLUMNS: Column<ProbeCheck>[] = [
  { title: 'SENT', value: ({ name }) => name },
  { title: 'EXPECTED', value: ({ expected }) => expected },
  { title: 'ANSWER', value: ({ status, error }) => status ?? error },
  { title: 'RIGHT', value: ({ passed }) => (passed ? 'yes' : 'no'), style: ({ passed }) => (passed ? 'green' : 'red') },
]
