import type { Store } from '../../src/core/store/store.ts'

/**
 * Opens a fresh store; `reopen` gives a second one on the same data, as another process would have
 * it.
 */
export type OpenStore = () => { store: Store; reopen: () => Store }
