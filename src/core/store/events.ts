import type { EventRecord } from '../incoming/event.ts'

/** Which events are meant; every part narrows. */
export interface EventFilter {
  type?: string
  /** Received at this moment or later … */
  since?: number
  /** … and before this one. */
  until?: number
  /** Arrived before this one, by its `seq`: where the page before ended. */
  before?: number
}

export interface EventWrites {
  /**
   * New runs of an event that is stored, one for each workflow. Gives their ids; `not_found`
   * without the event, `conflict` once its body is pruned.
   */
  replayEvent(event: { id: string; account: string }, workflows: readonly string[], now: number): Promise<string[]>
}

export interface EventReads {
  listEvents(query: EventFilter & { limit: number }): Promise<EventRecord[]>
  /** The events with this id: one for each account that has it. */
  findEvents(id: string): Promise<EventRecord[]>
}
