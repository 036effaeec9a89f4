import type { MessagePort } from 'node:worker_threads'
import { UpshotError } from '../core/errors.ts'
import type { ListReads, ReadStore, Store } from '../core/store/store.ts'

/** The store of a process, which other threads may use as well. */
export interface SharedStore extends Store {
  /** Opens a channel for the store of another thread. */
  connect(): StoreConnection
  /** Reads for people, which no delivery waits for. */
  readonly aside: Partial<ReadStore>
  /** Left out: lists are read like everything else. */
  readonly openLists?: OpenLists
}

/** Reads without a way to write. */
export interface Reader extends ReadStore, Pick<Store, 'close'> {
  /** Left out: lists are read like everything else. */
  readonly openLists?: OpenLists
}

/** Reads for one list, from a standby while one is up to date. `report` hears when that changes. */
export type OpenLists = (report: (change: StandbyChange) => void) => Promise<ListReads>

/** The primary answers lists in the place of the standby, or no longer does. */
export type StandbyChange = { kind: 'left'; why: string } | { kind: 'back'; ms: number }

/** The channel of another thread to the store of its process. */
export interface StoreConnection {
  /** To be transferred to that thread. */
  port: MessagePort
  /** Drops calls that have not arrived. Later calls on the store of the process come after it. */
  cut(): void
}

/** True for a fault of the database that may pass, so that it is worth waiting for. */
export function mayPass(error: unknown): error is UpshotError {
  return error instanceof UpshotError && error.code === 'store_unavailable' && error.details.passes === true
}
