import type { Store } from '../../core/store/store.ts'
import type { LimiterStore } from './limiter-store.ts'

/**
 * Keeps limits in the database, where all find them who use it, and where they outlive a restart.
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
