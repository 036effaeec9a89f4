import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { type ApprovalTerms, type Decision, describeVote } from '../../../../core/safety/approval.ts'
import type { Operator } from '../../../../core/safety/audit.ts'
import type { Asked } from '../../../../core/safety/effect.ts'
import { ApprovalProof } from '../../../../core/safety/votes/approval-proof.ts'
import { processEnvironment } from '../../../../project/config/environment.ts'
import type { Cli } from '../../../command.ts'
import { call, type Operations } from '../../../open/operations.ts'
import { isDryRun } from '../../../operate/act-command.ts'
import { canAsk, typesCount } from '../../../terminal/confirm.ts'
import type { Output } from '../../../terminal/output.ts'
import { describeApproval } from './list.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the approval, apr_…, or its beginning')
    .option('--as <name>', 'decide as this registered approver')
    .option('--key-file <file>', 'sign with the private key in this file')
    .action((named, voter) =>
      project.withOperations(async (operations) => {
        const approval = await call(operations, 'GET /approvals/:id', { params: { id: named } })
        const will = `deny ${approval.openItems} items, whose steps then fail: ${describeApproval(approval)}`
        if (await isDryRun(out, { will })) return
        const said = { verdict: 'denied', hash: approval.hash, only: null, answer: null } as const
        const body = await signWord(operations, approval, { ...said, voter, operator: project.operator })
        const result = await call(operations, 'POST /approvals/:id/deny', { params: { id: approval.id }, body })
        const woken = result.woken === 1 ? '1 run goes' : `${result.woken} runs go`
        out.result({ approval: approval.id, ...result }, () => [
          `Denied approval ${approval.id}; ${woken} on without it.`,
        ])
      }),
    )
}

export type Approval = AnswerOf<'GET /approvals/:id'>
type Items = AnswerOf<'GET /approvals/:id/items'>
type Item = Items['items'][number]
/** An item with what its hash covers. */
export type ApprovalItem = Awaited<ReturnType<typeof readProof>>['items'][number]

/** Items of one answer. */
const MAX_ITEMS = 5_000

/** The person who decides, as options name them. */
export interface Voter {
  as?: string | undefined
  keyFile?: string | undefined
}

/** The word of a person about an approval. */
export interface Word extends Pick<Decision, 'verdict' | 'hash' | 'only' | 'answer'> {
  voter: Voter
  operator: Pick<Operator, 'actor' | 'reason'>
}

/** The body of a decision: signed, where a key is named. */
export async function signWord(
  operations: Operations,
  approval: Approval,
  { voter: { as, keyFile }, operator, ...word }: Word,
): Promise<{ hash: string; as: string | undefined; signature?: string }> {
  if (keyFile === undefined) return { hash: word.hash, as }
  if (as === undefined && operations.local === null) {
    throw new UpshotError('invalid_request', 'A signature at a server needs the name of its approver.', {
      fix: 'Add --as with the name that "upshot approvers list" has.',
    })
  }
  // A no needs no list, so that one can be given to a list that was changed.
  const hash = word.verdict === 'denied' ? word.hash : await findWholeHash(operations, approval, word.hash)
  const { actor, reason } = operator
  const whole = { ...word, hash, approval: approval.id, actor: as ?? actor, reason, signature: null }
  return { hash, as, signature: Buffer.from(signVote(whole, keyFile)).toString('base64') }
}

/**
 * The hash that the digits begin, which a signature covers whole. It is computed of what is shown
 * now, as `approvals show` does. The word of a database about its own list proves nothing.
 */
async function findWholeHash(operations: Operations, approval: Approval, hash: string): Promise<string> {
  const found = (await readProof(operations, approval)).proof.find(hash)
  if (found.length === 1 && found[0]) return found[0]
  throw new UpshotError(
    'list_changed',
    `The list of approval ${approval.id} has no hash ${hash}, or two. Nothing was signed.`,
    { fix: `Look again: "upshot approvals show ${approval.id}".` },
  )
}

/** All items of an approval, and the proof that they are those which its hash names. */
export async function readProof(operations: Operations, approval: Approval) {
  const items: Item[] = []
  for (let after: string | null = null; ; ) {
    const query = { limit: MAX_ITEMS, withQuestion: 'true' as const, ...(after === null ? {} : { after }) }
    const page: Items = await call(operations, 'GET /approvals/:id/items', { params: { id: approval.id }, query })
    items.push(...page.items)
    after = page.next
    if (after === null) break
  }
  const terms = { ...approval, expiresAt: Date.parse(approval.expiresAt) } as unknown as ApprovalTerms
  const proven = items.map((item) => ({ ...item, asked: item.asked as Asked | null }))
  return { proof: new ApprovalProof(terms, proven), items: proven }
}

/** Signs a word for the whole hash that it names. Throws `invalid_request` for an unusable key. */
export function signVote(decision: Decision, keyFile: string): Uint8Array {
  try {
    return sign(null, Buffer.from(describeVote(decision)), createPrivateKey(readFileSync(keyFile)))
  } catch (cause) {
    throw new UpshotError('invalid_request', `Cannot sign with the key in ${keyFile}.`, {
      cause,
      fix: 'Name a file with an Ed25519 private key in PEM: "upshot approvers key <name>" makes one.',
    })
  }
}

/**
 * The hash that the person names. At a terminal, typing the number of items stands for it. A script
 * has to name it: nobody watches what it approves.
 */
export async function requireHash(
  out: Output,
  approval: Pick<Approval, 'id' | 'hash' | 'openItems'>,
  given: string | undefined,
  environment = processEnvironment(),
): Promise<string> {
  if (given !== undefined) return given
  if (canAsk(out, environment) && (await typesCount(out, approval.openItems))) return approval.hash
  throw new UpshotError('needs_confirmation', `The list of approval ${approval.id} was not named. Nothing was done.`, {
    fix: `Look at it with "upshot approvals show ${approval.id}", and add the --hash that it prints.`,
  })
}
