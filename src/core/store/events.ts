import type { EventRecord } from '../incoming/event.ts'

/** Selects events; every part narrows. */
export interface EventFilter {
  type?: string
  /** Received at this moment or later, in epoch milliseconds. */
  since?: number
  /** Received before this moment, in epoch milliseconds. */
  until?: number
  /** Numbered below this `seq`: the last one of the page before. */
  before?: number
}

export interface EventWrites {
  /**
   * Starts new runs of a stored event, one for each workflow, and returns their ids. `not_found`
   * without the event, `conflict` when its body is pruned.
   */
  replayEvent(event: { id: string; account: string }, workflows: readonly string[], now: number): Promise<string[]>
}

export interface EventReads {
  /** Newest first. */
  listEvents(query: EventFilter & { limit: number }): Promise<EventRecord[]>
  /** Events with this id: one for each account that received it. */
  findEvents(id: string): Promise<EventRecord[]>
  /** The own events of runs; runs without one are left out. */
  listEventsOfRuns(runIds: readonly string[]): Promise<{ run: string; event: EventRecord }[]>
}
