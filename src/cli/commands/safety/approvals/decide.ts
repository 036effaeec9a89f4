import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { UpshotError } from '../../../../core/errors.ts'
import { type Approval, type Decision, type DecisionResult, describeVote } from '../../../../core/safety/approval.ts'
import { loadProof } from '../../../../core/safety/votes/approval-proof.ts'
import { processEnvironment } from '../../../../project/config/environment.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import type { PersonStore } from '../../../open/open-project.ts'
import { canAsk } from '../../../terminal/confirm.ts'
import type { Output } from '../../../terminal/output.ts'
import { typesCount } from '../../../terminal/types-count.ts'

/** The person who decides, as options name them. */
export interface Voter {
  as?: string | undefined
  keyFile?: string | undefined
}

/** Signs a decision, where a key is named, and counts it. */
export async function decide(
  { project }: Pick<Cli, 'project'>,
  store: PersonStore,
  { as, keyFile, ...decision }: Omit<Decision, 'actor' | 'signature' | 'reason'> & Voter,
): Promise<DecisionResult> {
  const { actor, reason } = project.operator
  const words = { ...decision, actor: as ?? actor, reason, signature: null }
  if (keyFile === undefined) return store.decideApproval(words, commandClock.now())
  // A no needs no list, so that one can be given to a list that was changed.
  const hash = words.verdict === 'denied' ? words.hash : await findWholeHash(store, words)
  const whole = { ...words, hash }
  return store.decideApproval({ ...whole, signature: signVote(whole, keyFile) }, commandClock.now())
}

/**
 * The hash that the digits begin, which a signature covers whole. It is computed of what the
 * database shows now, as `approvals show` does: its own words about its list prove nothing.
 */
async function findWholeHash(store: PersonStore, { approval, hash }: Pick<Decision, 'approval' | 'hash'>) {
  const terms = await store.findApproval(approval, commandClock.now())
  const found = terms && (await loadProof(store, terms)).proof.find(hash)
  if (found?.length === 1 && found[0]) return found[0]
  throw new UpshotError(
    'list_changed',
    `The list of approval ${approval} has no hash ${hash}, or two. Nothing was signed.`,
    {
      details: { fix: `Look again: "upshot approvals show ${approval}".` },
    },
  )
}

/** Signs a word for the whole hash that it names. Throws `invalid_request` for an unusable key. */
export function signVote(decision: Decision, keyFile: string): Uint8Array {
  try {
    return sign(null, Buffer.from(describeVote(decision)), createPrivateKey(readFileSync(keyFile)))
  } catch (cause) {
    throw new UpshotError('invalid_request', `Cannot sign with the key in ${keyFile}.`, {
      cause,
      details: { fix: 'Name a file with an Ed25519 private key in PEM: "upshot approvers key <name>" makes one.' },
    })
  }
}

/**
 * The hash that the person names. At a terminal, typing the number of items stands for it. A script
 * has to name it: nobody watches what it approves.
 */
export async function requireHash(
  out: Output,
  approval: Approval,
  given: string | undefined,
  environment = processEnvironment(),
): Promise<string> {
  if (given !== undefined) return given
  if (canAsk(out, environment) && (await typesCount(out, approval.openItems))) return approval.hash
  throw new UpshotError('needs_confirmation', `The list of approval ${approval.id} was not named. Nothing was done.`, {
    details: { fix: `Look at it with "upshot approvals show ${approval.id}", and add the --hash that it prints.` },
  })
}
