import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import { parseNumbers } from '../../../../core/safety/approval.ts'
import { checkAnswer } from '../../../../core/safety/check-answer.ts'
import type { Cli } from '../../../command.ts'
import { parseJsonOption } from '../../../input/parse-option.ts'
import { call } from '../../../open/operations.ts'
import { refrain } from '../../../operate/act-command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { requireHash, signWord } from './decide.ts'
import { describeApproval } from './list.ts'

/** `upshot approvals approve <id> --hash`: lets exactly the list that a person saw begin. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the approval, apr_…, or its beginning')
    .option('--hash <digits>', 'the hash that "approvals show" printed; names the list that you saw')
    .option('--only <numbers>', 'approve only these items, such as 1-40,45; the rest stays open')
    .option('--answer <json>', 'the answer to a question that asks for one', parseJsonOption)
    .option('--as <name>', 'decide as this registered approver')
    .option('--key-file <file>', 'sign with the private key in this file')
    .action((named, { hash: given, only, answer, ...voter }) =>
      project.withOperations(async (operations) => {
        const approval = await call(operations, 'GET /approvals/:id', { params: { id: named } })
        const what = approval.kind === 'guard' ? `approve ${approval.openItems} items` : 'say yes'
        const will = `${what}: ${describeApproval(approval)}`
        if (out.given.dryRun) {
          await confirm(out, { will })
          return refrain(out, will)
        }
        const hash = await requireHash(out, approval, given)
        const numbers = only === undefined ? null : parseNumbers(only)
        const said = { verdict: 'approved', hash, only: numbers, answer: checkAnswer(approval, answer) } as const
        const signed = await signWord(operations, approval, { ...said, voter, operator: project.operator })
        const body = { ...signed, ...(only === undefined ? {} : { only }), ...(answer === undefined ? {} : { answer }) }
        const result = await call(operations, 'POST /approvals/:id/approve', { params: { id: approval.id }, body })
        out.result({ approval: approval.id, ...result }, () => [describeResult(result)])
      }),
    )
}

function describeResult({ status, granted, moved, next, missing }: AnswerOf<'POST /approvals/:id/approve'>): string {
  if (status === 'open')
    return `Your word counts. ${missing} more ${missing === 1 ? 'person has' : 'people have'} to agree.`
  const rest = next === null ? '' : ` The other ${moved} wait in approval ${next}.`
  if (granted === 0) return 'Approved.'
  return `Approved ${granted} ${granted === 1 ? 'item' : 'items'}.${rest}`
}
