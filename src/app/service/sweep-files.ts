import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { SweepParts } from '../../schedule/sweep/sweep-parts.ts'
import { findAccess } from './access-to.ts'
import type { EmbeddedSandbox } from './embedded-sandbox.ts'

/** Each call is one request. */
const ONE_REQUEST = { retry: { attempts: 1 } }

/** The Files API as sweeps use it. Its modules are loaded with the first sweep. */
export function sweepFiles(
  config: Config,
  { embedded, ...parts }: { store: Store; clock: Clock; publish: Publish; embedded: () => EmbeddedSandbox | null },
): SweepParts['filesOf'] {
  const open = async () => {
    const [{ AccountClients }, { isProvenMissing }] = await Promise.all([
      import('./account-clients.ts'),
      import('../../files/call/decide-resend.ts'),
    ])
    const defaultAccess = () => findAccess(config, embedded())
    const clients = new AccountClients({
      ...parts,
      defaultAccess,
      burst: config.files.burst,
      priority: 'background',
      random: Math.random,
    })
    return { clients, isProvenMissing }
  }
  let opened: ReturnType<typeof open> | null = null
  return async (account, signal) => {
    const how = { ...ONE_REQUEST, ...(signal && { signal }) }
    opened ??= open()
    const { clients, isProvenMissing } = await opened
    const client = await clients.clientOf(account)
    const limit = clients.limits.find((each) => each.account === account)
    return {
      list: (query) => client.listAnew(query, how),
      get: (file) =>
        client.get(file, how).catch((error: unknown) => {
          if (isProvenMissing(error)) return null
          throw error
        }),
      perMinute: limit?.perMinute ?? 1,
      spellings: await clients.spellingsOf(account),
    }
  }
}
