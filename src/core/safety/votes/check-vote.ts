import type { Approver, Decision } from '../approval.ts'
import { isSignedBy } from './vote-record.ts'

/** `fault`: why a vote does not count. `publicKey`: the key that signed it; null for none. */
type VoteCheck = { fault: string } | { fault: null; publicKey: string | null }

/**
 * Whether a vote with the whole hash counts. Once anybody is registered, it needs the signature of
 * an approver who has the role and is not removed. `at`: a moment before they were removed will do.
 */
export function checkVote(
  decision: Decision,
  { approvers, role, at }: { approvers: readonly Approver[]; role: string | null; at?: number },
): VoteCheck {
  if (approvers.length === 0) {
    if (role === null) return { fault: null, publicKey: null }
    const fix = 'See "upshot approvers add <name> --key <file>"'
    return { fault: `it needs the role "${role}", and nobody is registered. ${fix}` }
  }
  const { actor, signature } = decision
  const known = approvers.filter(({ name }) => name === actor)
  if (known.length === 0) return { fault: `"${actor}" is no registered approver` }
  const present = known.filter((each) => isRegistered(each, at))
  if (present.length === 0) return { fault: `the approver "${actor}" was removed` }
  const able = present.filter(({ roles }) => role === null || roles.includes(role))
  if (able.length === 0) return { fault: `"${actor}" does not have the role "${role}"` }
  if (signature === null) return { fault: 'votes have to be signed: name the private key with --key-file' }
  const signer = able.find(({ publicKey }) => isSignedBy(decision, publicKey))
  if (!signer) return { fault: `the signature is not that of "${actor}"` }
  return { fault: null, publicKey: signer.publicKey }
}

function isRegistered({ removedAt }: Approver, at: number | undefined): boolean {
  return removedAt === null || (at !== undefined && at <= removedAt)
}
