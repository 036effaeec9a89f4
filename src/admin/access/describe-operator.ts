import type { Operator } from '../../core/safety/audit.ts'
import type { Caller } from './caller.ts'

const PREFIX = { session: 'web', token: 'token', proxy: 'proxy', cli: 'cli' } as const satisfies Record<
  Caller['kind'],
  string
>

/** The caller as the audit log names it, such as `web:ada` or `token:ci`. */
export function describeOperator({ kind, name, role, address }: Caller, reason: string | null): Operator {
  return { actor: `${PREFIX[kind]}:${name}`, role: kind === 'cli' ? 'owner' : role, from: address, reason }
}
