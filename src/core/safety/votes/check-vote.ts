import type { Approver, Decision } from '../approval.ts'
import { isSignedBy } from './vote-record.ts'

/** `fault`: why a vote does not count. `publicKey`: the key that signed it; null for none. */
type VoteCheck = { fault: string } | { fault: null; publicKey: string | null }

/**
 * Whether a vote with the whole hash counts. Once anybody is registered, it needs the signature of
 * an approver who has the role and is not removed.
 */
export function checkVote(
  decision: Decision,
  { approvers, role }: { approvers: readonly Approver[]; role: string | null },
): VoteCheck {
  if (approvers.length === 0) {
    if (role === null) return { fault: null, publicKey: null }
    const fix = 'See "upshot approvers add <name> --key <file>"'
    return { fault: `it needs the role "${role}", and nobody is registered. ${fix}` }
  }
  const approver = approvers.find(({ name }) => name === decision.actor)
  if (!approver) return { fault: `"${decision.actor}" is no registered approver` }
  const { publicKey, removedAt, roles } = approver
  if (removedAt !== null) return { fault: `the approver "${decision.actor}" was removed` }
  if (role !== null && !roles.includes(role)) return { fault: `"${decision.actor}" does not have the role "${role}"` }
  if (decision.signature === null) return { fault: 'votes have to be signed: name the private key with --key-file' }
  if (!isSignedBy(decision, publicKey)) return { fault: `the signature is not that of "${decision.actor}"` }
  return { fault: null, publicKey }
}
