import type { AccessRole } from '../../core/access/role.ts'
import type { Operator } from '../../core/safety/audit.ts'

/** The sender of a request, and the rights it has. */
export interface Caller {
  /** Such as `ada`, or the name of a token. */
  name: string
  /** `cli`: whoever can open the data directory, as the system names them. */
  kind: 'session' | 'token' | 'proxy' | 'cli'
  /** Id of the session or token; the name of a user that a proxy names. */
  id: string
  role: AccessRole
  /** Address that the request came from; the name of the machine for `cli`. */
  address: string
}

const PREFIX = { session: 'web', token: 'token', proxy: 'proxy', cli: 'cli' } as const satisfies Record<
  Caller['kind'],
  string
>

/** The caller as the audit log names it, such as `web:ada` or `token:ci`. */
export function describeOperator({ kind, name, role, address }: Caller, reason: string | null): Operator {
  return { actor: `${PREFIX[kind]}:${name}`, role: kind === 'cli' ? 'owner' : role, from: address, reason }
}
