import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import { type DecisionResult, parseNumbers } from '../../../../core/safety/approval.ts'
import { checkAnswer } from '../../../../core/safety/check-answer.ts'
import type { Cli } from '../../../command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { decide, requireHash } from './decide.ts'
import { describeApproval } from './list.ts'
import { requireApproval } from './require-approval.ts'

/** `upshot approvals approve <id> --hash`: lets exactly the list that a person saw begin. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the approval, apr_…, or its beginning')
    .option('--hash <digits>', 'the hash that "approvals show" printed; names the list that you saw')
    .option('--only <numbers>', 'approve only these items, such as 1-40,45; the rest stays open')
    .option('--answer <json>', 'the answer to a question that asks for one')
    .option('--as <name>', 'decide as this registered approver')
    .option('--key-file <file>', 'sign with the private key in this file')
    .action((id, { hash: given, only, answer, ...voter }) =>
      project.withStore(async (store) => {
        const approval = await requireApproval(store, id)
        const numbers = only === undefined ? null : parseNumbers(only)
        const checked = checkAnswer(approval, answer === undefined ? undefined : parse(answer))
        const what = approval.kind === 'guard' ? `approve ${approval.openItems} items` : 'say yes'
        const will = `${what}: ${describeApproval(approval)}`
        if (out.given.dryRun) {
          await confirm(out, { will })
          return out.result({ approval: approval.id, dryRun: true }, () => ['Nothing was approved.'])
        }
        const hash = await requireHash(out, approval, given)
        const word = {
          approval: approval.id,
          verdict: 'approved',
          hash,
          only: numbers,
          answer: checked,
          ...voter,
        } as const
        const result = await decide({ project }, store, word)
        out.result({ approval: approval.id, ...result }, () => [describeResult(result)])
      }),
    )
}

function describeResult({ status, granted, moved, next, missing }: DecisionResult): string {
  if (status === 'open')
    return `Your word counts. ${missing} more ${missing === 1 ? 'person has' : 'people have'} to agree.`
  const rest = next === null ? '' : ` The other ${moved} wait in approval ${next}.`
  if (granted === 0) return 'Approved.'
  return `Approved ${granted} ${granted === 1 ? 'item' : 'items'}.${rest}`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UpshotError('invalid_request', 'The value of --answer is not JSON.', {
      details: { fix: `Give JSON, such as --answer '{"keep": []}'.` },
    })
  }
}
