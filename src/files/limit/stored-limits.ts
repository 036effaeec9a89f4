import type { Store } from '../../core/store/store.ts'
import type { LimiterStore } from './limiter-store.ts'

/**
 * Keeps limits in the database: every process that uses it shares them, and they survive restarts.
 */
export function storedLimits(store: Pick<Store, 'loadLimit' | 'saveLimit'>): LimiterStore {
  return {
    async load(key) {
      const kept = await store.loadLimit(key)
      return kept && { state: JSON.parse(kept.state), version: kept.version }
    },
    save: (key, state, version) => store.saveLimit(key, JSON.stringify(state), version),
  }
}
