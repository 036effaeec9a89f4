import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { decide } from './decide.ts'
import { describeApproval } from './list.ts'
import { requireApproval } from './require-approval.ts'

/** `upshot approvals deny <id>`: its steps fail with the code `denied`. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the approval, apr_…, or its beginning')
    .option('--as <name>', 'decide as this registered approver')
    .option('--key-file <file>', 'sign with the private key in this file')
    .action((id, voter) =>
      project.withStore(async (store) => {
        const approval = await requireApproval(store, id)
        const will = `deny ${approval.openItems} items, whose steps then fail: ${describeApproval(approval)}`
        if (out.given.dryRun) {
          await confirm(out, { will })
          return out.result({ approval: approval.id, dryRun: true }, () => ['Nothing was denied.'])
        }
        const what = {
          approval: approval.id,
          verdict: 'denied',
          hash: approval.hash,
          only: null,
          answer: null,
        } as const
        const result = await decide({ project }, store, { ...what, ...voter })
        out.result({ approval: approval.id, ...result }, () => [
          `Denied approval ${approval.id}; ${result.woken} runs go on without it.`,
        ])
      }),
    )
}
