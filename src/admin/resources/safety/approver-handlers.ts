import { createPublicKey } from 'node:crypto'
import { UpshotError } from '../../../core/errors.ts'
import type { Approver } from '../../../core/safety/approval.ts'
import { fingerprintOf } from '../../../core/safety/votes/vote-record.ts'
import { withIsoTimes } from '../../../core/time.ts'
import type { APPROVER_ROUTES } from '../../contract/resources/safety/approvers.ts'
import type { Handlers } from '../../perform/handler.ts'
import type { ResourceParts } from '../parts.ts'

/** The people who may decide approvals. */
export function approverHandlers({ store }: ResourceParts): Handlers<keyof typeof APPROVER_ROUTES> {
  return {
    'GET /approvers': async () => ({ items: (await store.listApprovers()).map(describeApprover) }),
    async 'POST /approvers'({ body, writes, now }) {
      const { name, roles } = body
      const approver = { name, roles, publicKey: readKey(body.publicKey), addedAt: now, removedAt: null }
      await writes.addApprover(approver)
      return describeApprover(approver)
    },
    async 'DELETE /approvers/:name'({ params, writes, now }) {
      if (await writes.removeApprover(params.name, now)) return undefined
      throw new UpshotError('not_found', `There is no approver "${params.name}".`, {
        fix: 'List them with "upshot approvers list".',
      })
    },
  }
}

/** The key in its usual form. Throws `invalid_request` for any other key. */
function readKey(text: string): string {
  try {
    const key = createPublicKey(text)
    if (key.asymmetricKeyType === 'ed25519') return key.export({ type: 'spki', format: 'pem' }).toString()
  } catch (cause) {
    throw refuse(cause)
  }
  throw refuse()
}

function refuse(cause?: unknown): UpshotError {
  return new UpshotError('invalid_request', 'This is not an Ed25519 public key in PEM.', {
    cause,
    fix: 'Make a pair with "upshot approvers key <name>", and give the .pub file.',
  })
}

/** A row that does not open with the key of this installation has no key of a person. */
function describeApprover({ roles, ...rest }: Approver) {
  const fingerprint = rest.publicKey === '' ? 'unreadable' : fingerprintOf(rest.publicKey)
  return { ...withIsoTimes(rest), roles: [...roles], fingerprint }
}
