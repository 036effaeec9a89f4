import type { Config } from '../../../project/config/load-config.ts'
import { commandClock } from '../../open/command-clock.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'

/**
 * The clients of the service, for reads only, with the limit of their keys that the app shares.
 * `onRead` hears of each, such as `get`.
 */
export async function openLiveReads(config: Config, onRead: (operation: string) => void = () => {}) {
  const { openStore } = await import('../../../project/data-dir/open-store.ts')
  const { AccountClients } = await import('../../../app/service/account-clients.ts')
  const { findAccess } = await import('../../../app/service/access-to.ts')
  const { openReads } = await import('../../../app/play/open-reads.ts')
  const store = await openStore(config)
  const clients = new AccountClients({
    ...{ store, clock: commandClock, random: Math.random, publish: () => {}, burst: config.files.burst },
    ...{ priority: 'background', defaultAccess: () => findAccess(config) },
  })
  const read = openReads(clients, { clock: commandClock, signal: onInterrupt() }, onRead)
  let throttled = false
  const readFiles: typeof read = async (account, operation, given) => {
    try {
      return await read(account, operation, given)
    } catch (error) {
      throttled ||= error instanceof Error && /RateLimit/.test(error.name)
      throw error
    }
  }
  return {
    readFiles,
    /** Whether the limit of a key has refused a read. */
    isThrottled: () => throttled,
    [Symbol.asyncDispose]: () => clients.stop().finally(() => store.close()),
  }
}
