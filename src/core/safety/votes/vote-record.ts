import { createPublicKey, hash, verify } from 'node:crypto'
import { type Approver, type Decision, describeVote } from '../approval.ts'
import type { EffectRecord } from '../effect.ts'

/** The newest word of a person on an approval, with the whole hash. */
export interface VoteRecord extends Decision {
  /** Epoch milliseconds. */
  at: number
  /** The ledger row of the same word. */
  effectSeq: number
}

interface LedgerWord extends Decision {
  /** The approver's key at that time, in PEM; null where the word was not signed. */
  publicKey: string | null
}

/** The columns of the ledger row of a word. The signature covers all but the key. */
export function describeWord({ publicKey, ...decision }: LedgerWord) {
  const { approval, actor, verdict, reason, hash, only, answer, signature } = decision
  return {
    approval,
    actor,
    operation: verdict === 'approved' ? 'approve' : 'deny',
    outcome: verdict,
    error: reason,
    asked: JSON.stringify({ hash, only, answer, publicKey }),
    proof: signature === null ? null : Buffer.from(signature).toString('base64'),
  }
}

/** The word of a `decided` row; null where the row does not hold one. */
export function readWord({ approval, actor, operation, error, asked, proof }: EffectRecord): LedgerWord | null {
  if (approval === null || actor === null || asked === null) return null
  try {
    const { hash, only, answer, publicKey } = JSON.parse(asked)
    const verdict = operation === 'approve' ? 'approved' : 'denied'
    const signature = proof === null ? null : Buffer.from(proof, 'base64')
    return { approval, actor, verdict, reason: error, hash, only, answer, signature, publicKey }
  } catch {
    return null
  }
}

/** True where this Ed25519 key, in PEM, signed the decision. */
export function isSignedBy(decision: Decision, publicKey: string): boolean {
  if (decision.signature === null) return false
  try {
    return verify(null, Buffer.from(describeVote(decision)), createPublicKey(publicKey), decision.signature)
  } catch {
    return false
  }
}

/** Names a public key in PEM for people, as OpenSSH does: the SHA-256 of its DER form. */
export function fingerprintOf(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return `SHA256:${hash('sha256', der, 'base64').replace(/=+$/, '')}`
}

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
  if (known.length === 0) return { fault: `"${actor}" is not a registered approver` }
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
