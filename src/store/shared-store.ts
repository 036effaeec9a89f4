import type { MessagePort } from 'node:worker_threads'
import type { ReadStore, Store } from '../core/store/store.ts'

/** The store of a process, which other threads may use as well. */
export interface SharedStore extends Store {
  /** Opens a channel for the store of another thread. */
  connect(): StoreConnection
  /** Reads for people, which no delivery waits for. */
  readonly aside: Partial<ReadStore>
}

/** The channel of another thread to the store of its process. */
export interface StoreConnection {
  /** To be transferred to that thread. */
  port: MessagePort
  /** Drops calls that have not arrived. Later calls on the store of the process come after it. */
  cut(): void
}
