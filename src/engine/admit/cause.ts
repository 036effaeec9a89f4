import type { Tick } from '../../author/cron.ts'
import type { ReceivedEvent } from '../../core/incoming/event.ts'

/** The cause of a run, as its author sees it. */
export type Cause = { account: string } & (
  | { event: ReceivedEvent }
  | { event: ReceivedEvent; folded: number }
  | { events: ReceivedEvent[] }
  | { tick: Tick }
  | { input: unknown; tick: Tick | null }
)
