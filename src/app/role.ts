import { UpshotError } from '../core/errors.ts'
import type { Config } from '../project/config/load-config.ts'

/** The parts of the app that a process runs. */
export interface RolePlan {
  receive: boolean
  work: boolean
  schedule: boolean
}

/**
 * Throws `invalid_config` for a role with the sandbox. Only the whole app can run the sandbox: it
 * calls the receiver, and workers call it.
 */
export function planParts({ role, service }: Pick<Config, 'role' | 'service'>): RolePlan {
  if (role !== 'all' && service.kind === 'sandbox') {
    const fix = 'Set SERVICE_BASE_URL and the other SERVICE_ variables, or leave the role out.'
    throw new UpshotError('invalid_config', `A process with the role "${role}" cannot run the sandbox. ${fix}`)
  }
  const runs = (part: Config['role']) => role === 'all' || role === part
  return { receive: runs('receiver'), work: runs('worker'), schedule: runs('scheduler') }
}
