import type { Command } from '@commander-js/extra-typings'
import type { ProbeCheck, ProbeReport } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { findWebhook } from './control/find-webhook.ts'
import { atSandbox, findSandbox, isRehearsal } from './control/sandbox-control.ts'

/** `upshot sandbox probe <endpoint>`: checks a receiver; exits with 7 if an answer is wrong. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<endpoint>', 'name of an endpoint of the project, or id or URL of a webhook')
    .addHelpText('after', '\nIts events have the type sandbox.probe. Some are forged, tampered, stale or too large.')
    .action(async (name, choice) => {
      const sandbox = await findSandbox(project, choice)
      const { id, url } = await findWebhook({ sandbox, project }, name)
      if (isRehearsal(out, `probe ${url}`)) return
      const { passed, checks } = await sandbox.post<ProbeReport>(`/webhooks/${id}/probe`)
      out.result({ webhook: id, url, passed, checks }, () => [
        ...formatTable(checks, COLUMNS, out),
        '',
        passed ? `${url} passed every check.` : `${url} failed a check.`,
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
