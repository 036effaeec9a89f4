/** Requests that may start at once: for every account, or by account. Null: none is set. */
export type BurstSetting = number | Readonly<Record<string, number>> | null

/** The burst of an account; null where it has none. */
export function burstOf(setting: BurstSetting | undefined, account: string): number | null {
  if (setting === undefined || setting === null || typeof setting === 'number') return setting ?? null
  return Object.hasOwn(setting, account) ? (setting[account] ?? null) : null
}
