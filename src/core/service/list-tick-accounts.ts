import type { CronTrigger } from '../runs/schedule.ts'
import { DEFAULT_ACCOUNT } from './account.ts'

/**
 * The accounts that a moment makes a run for. `known`: the names of all accounts but `default`,
 * asked for only where they matter.
 */
export async function listTickAccounts(
  { accounts }: Pick<CronTrigger, 'accounts'>,
  known: () => Promise<readonly { name: string }[]>,
): Promise<readonly string[]> {
  return accounts === 'each' ? [DEFAULT_ACCOUNT, ...(await known()).map(({ name }) => name)] : accounts
}
