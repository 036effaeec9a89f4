import type { AccessRole } from '../../core/access/role.ts'

/** The sender of a request, and the rights it has. */
export interface Caller {
  /** Such as `ada`, or the name of a token. */
  name: string
  kind: 'session' | 'token' | 'proxy'
  /** Id of the session or token; the name of a user that a proxy names. */
  id: string
  role: AccessRole
  /** Address that the request came from. */
  address: string
}
