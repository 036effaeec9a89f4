import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { call } from '../../../open/operations.ts'
import { refrain } from '../../../operate/act-command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { signWord } from './decide.ts'
import { describeApproval } from './list.ts'

/** `upshot approvals deny <id>`: its steps fail with the code `denied`. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the approval, apr_…, or its beginning')
    .option('--as <name>', 'decide as this registered approver')
    .option('--key-file <file>', 'sign with the private key in this file')
    .action((named, voter) =>
      project.withOperations(async (operations) => {
        const approval = await call(operations, 'GET /approvals/:id', { params: { id: named } })
        const will = `deny ${approval.openItems} items, whose steps then fail: ${describeApproval(approval)}`
        if (out.given.dryRun) {
          await confirm(out, { will })
          return refrain(out, will)
        }
        const said = { verdict: 'denied', hash: approval.hash, only: null, answer: null } as const
        const body = await signWord(operations, approval, { ...said, voter, operator: project.operator })
        const result = await call(operations, 'POST /approvals/:id/deny', { params: { id: approval.id }, body })
        out.result({ approval: approval.id, ...result }, () => [
          `Denied approval ${approval.id}; ${result.woken} runs go on without it.`,
        ])
      }),
    )
}
