import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import {
  type AheadEffect,
  type AheadProgress,
  approveAhead,
  boundAhead,
  requireAhead,
} from '../../../../admin/operations/approve-ahead.ts'
import { refuse } from '../../../../core/errors.ts'
import { isFinished } from '../../../../core/runs/run.ts'
import { MAX_AHEAD, parseNumbers } from '../../../../core/safety/approval.ts'
import { checkAnswer } from '../../../../core/safety/check-answer.ts'
import { parseSize } from '../../../../core/safety/guard.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import { countUpTo, parseJsonOption } from '../../../input/parse-option.ts'
import { call, type Operations } from '../../../open/operations.ts'
import { isDryRun } from '../../../operate/act-command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { formatBytes, formatText } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Approval, readProof, requireHash, signWord, type Voter, type Word } from './decide.ts'
import { describeApproval } from './list.ts'
import { foresee } from './show.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the approval, apr_…, or its beginning')
    .option('--hash <digits>', 'the hash that "approvals show" printed; names the list that you saw')
    .option('--only <numbers>', 'approve only these items, such as 1-40,45; the rest stays open')
    .option('--answer <json>', 'the answer to a question that asks for one', parseJsonOption)
    .option(
      '--ahead <n>',
      'then also approve up to n effects that a look ahead shows now, as they come',
      countUpTo(MAX_AHEAD),
    )
    .option('--ahead-size <size>', 'at most so many bytes ahead, such as "2 GB" (default: no bound)', parseSize)
    .option('--as <name>', 'decide as this registered approver')
    .option('--key-file <file>', 'sign with the private key in this file')
    .action((named, { hash: given, only, answer, ahead, aheadSize = Infinity, ...voter }) =>
      project.withOperations(async (operations) => {
        if (ahead === undefined && aheadSize !== Infinity) {
          throw refuse('--ahead-size bounds --ahead.', 'Add --ahead.')
        }
        const approval = await call(operations, 'GET /approvals/:id', { params: { id: named } })
        const expected = ahead === undefined ? null : await lookAhead(out, operations, approval, { ahead, aheadSize })
        const what = approval.kind === 'guard' ? `approve ${approval.openItems} items` : 'say yes'
        const will = `${what}: ${describeApproval(approval)}`
        if (await isDryRun(out, { will })) return
        const hash = await requireHash(out, approval, given)
        const numbers = only === undefined ? null : parseNumbers(only)
        const said = { verdict: 'approved', hash, only: numbers, answer: checkAnswer(approval, answer) } as const
        const signed = await signWord(operations, approval, { ...said, voter, operator: project.operator })
        const body = { ...signed, only, answer }
        const result = await call(operations, 'POST /approvals/:id/approve', { params: { id: approval.id }, body })
        if (expected === null) {
          out.result({ approval: approval.id, ...result }, () => [describeResult(result)])
          return
        }
        out.note(describeResult(result))
        const words = { effects: expected, voter, operator: project.operator }
        const { approved, approvals, stopped, held } = await giveWordsAhead(out, operations, approval, words)
        out.result({ approval: approval.id, ...result, ahead: { approved, approvals, stopped, held } }, () => [
          `Approved ${approved} more of what was foreseen.`,
          ...(stopped === null ? [] : [stopped]),
          ...(held === null ? [] : [`Decide it yourself: upshot approvals show ${held}`]),
        ])
        if (onInterrupt().aborted) out.leaveWith('interrupted')
      }),
    )
}

/** The effects that a person sees before the word is given, and that come after this list. */
async function lookAhead(
  out: Output,
  operations: Operations,
  approval: Approval,
  { ahead, aheadSize }: { ahead: number; aheadSize: number },
): Promise<AheadEffect[]> {
  requireAhead(approval)
  const effects = boundAhead(await foresee(out, operations, approval), ahead, aheadSize)
  if (effects.length === 0) return effects
  const unknown = effects.filter((effect) => effect.class === 'delete' && effect.bytes === null).length
  const size = formatBytes(effects.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0))
  const besides = unknown === 0 ? '' : ` and ${unknown} of unknown size`
  // The hash of a list names none of what comes after it.
  await confirm(out, {
    will: `approve ${effects.length} more, ${size}${besides}, as its runs ask for them`,
    things: effects.map((effect) =>
      [effect.class, nameEffect(effect), effect.isFolder ? 'folder' : formatBytes(effect.bytes)]
        .filter(Boolean)
        .join('  '),
    ),
    isWhole: true,
  })
  return effects
}

const nameEffect = ({ path, target, step }: AheadEffect) => path ?? target ?? step

type AheadEnd = Pick<AheadProgress, 'approved' | 'approvals' | 'stopped' | 'held'>

/** Gives a word for each list that comes next, signed where a key is named. */
async function giveWordsAhead(
  out: Output,
  operations: Operations,
  first: Approval,
  { effects, ...who }: { effects: readonly AheadEffect[]; voter: Voter; operator: Word['operator'] },
): Promise<AheadEnd> {
  const query = { status: 'open', workflow: first.workflow, limit: 100 } as const
  const door: Parameters<typeof approveAhead<Approval>>[0] = {
    listOpen: async () => (await call(operations, 'GET /approvals', { query })).items,
    readList: (list) => readProof(operations, list),
    async approve(list, hash) {
      const body = await signWord(operations, list, { verdict: 'approved', hash, only: null, answer: null, ...who })
      return call(operations, 'POST /approvals/:id/approve', { params: { id: list.id }, body })
    },
    hasEnded: async (id) => isFinished((await call(operations, 'GET /runs/:id', { params: { id } })).status),
  }
  const signal = onInterrupt()
  let told: AheadEnd = { approved: 0, approvals: [], stopped: null, held: null }
  for await (const progress of approveAhead(door, { first, effects, clock: commandClock, signal })) {
    if (progress.approved > told.approved) {
      out.note(`Approved ${formatText(progress.latest.map(nameEffect).join(', '))} (${progress.approvals.at(-1)})`)
    }
    told = progress
  }
  return told
}

function describeResult({ status, granted, moved, next, missing }: AnswerOf<'POST /approvals/:id/approve'>): string {
  if (status === 'open')
    return `Your decision counts. ${missing} more ${missing === 1 ? 'person has' : 'people have'} to agree.`
  const rest = next === null ? '' : ` The other ${moved} ${moved === 1 ? 'waits' : 'wait'} in approval ${next}.`
  if (granted === 0) return 'Approved.'
  return `Approved ${granted} ${granted === 1 ? 'item' : 'items'}.${rest}`
}
