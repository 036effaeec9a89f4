import type { EventOrigin } from '../../../core/incoming/event.ts'
import type { SentEvent } from '../../../core/runs/wait.ts'

/** Saves events of our own, with the runs that they start. */
export interface OwnEvents {
  /** Saves an event once, however often it is sent. */
  send(event: SentEvent, origin?: EventOrigin): Promise<void>
  /** Saves an event that the store itself makes; it starts the workflows of the present routes. */
  tell(event: Omit<SentEvent, 'workflows'>): Promise<void>
}
