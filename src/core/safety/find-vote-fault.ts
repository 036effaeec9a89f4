import { createPublicKey, verify } from 'node:crypto'
import { type Approver, type Decision, describeVote } from './approval.ts'

/**
 * Why a vote does not count; null where it does. Once anybody is registered, a vote needs the
 * signature of an approver who has the role and is not removed.
 */
export function findVoteFault(
  decision: Decision,
  { approvers, role }: { approvers: readonly Approver[]; role: string | null },
): string | null {
  if (approvers.length === 0) {
    return role === null
      ? null
      : `it needs the role "${role}", and nobody is registered. See "upshot approvers add <name> --key <file>"`
  }
  const approver = approvers.find(({ name }) => name === decision.actor)
  if (!approver) return `"${decision.actor}" is no registered approver`
  if (approver.removedAt !== null) return `the approver "${decision.actor}" was removed`
  if (role !== null && !approver.roles.includes(role)) return `"${decision.actor}" does not have the role "${role}"`
  if (decision.signature === null) return 'votes have to be signed: name the private key with --key-file'
  return isSignedBy(decision, approver.publicKey) ? null : `the signature is not that of "${decision.actor}"`
}

function isSignedBy(decision: Decision, publicKey: string): boolean {
  if (decision.signature === null) return false
  try {
    return verify(null, Buffer.from(describeVote(decision)), createPublicKey(publicKey), decision.signature)
  } catch {
    return false
  }
}
