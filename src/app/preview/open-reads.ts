import { type Clock, waitUntil } from '../../core/time.ts'
import type { AccountClients } from '../service/account-clients.ts'
import { READS, type ReadFiles, type ReadOperation } from './planned-files.ts'

/**
 * Reads of the service for plans, and nothing but reads. A read that the limit of the key puts off
 * waits, up to `longestMs`; default: for ever. `onRead` hears of each, such as `get`.
 */
export function openReads(
  clients: Pick<AccountClients, 'clientOf'>,
  { clock, signal, longestMs = Infinity }: { clock: Clock; signal: AbortSignal; longestMs?: number },
  onRead: (operation: ReadOperation) => void = () => {},
): ReadFiles {
  return async <T>(account: string, operation: ReadOperation, given: unknown): Promise<T> => {
    if (!READS.includes(operation)) throw new Error(`A plan may not call "${operation}".`)
    const end = clock.now() + longestMs
    for (;;) {
      try {
        const client = await clients.clientOf(account)
        onRead(operation)
        const read = client[operation].bind(client) as (given: unknown, options: object) => Promise<unknown>
        return (await read(given, { signal })) as T
      } catch (error) {
        const { retryAt = null } = error as { retryAt?: number | null }
        if (retryAt === null || retryAt <= clock.now() || retryAt > end) throw error
        await waitUntil(clock, retryAt, signal)
      }
    }
  }
}
