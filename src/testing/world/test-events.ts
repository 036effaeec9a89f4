import type { EventDefinition } from '../../author/define-event.ts'
import type { ServiceEvent } from '../../core/incoming/event.ts'
import { isoTime } from '../../core/time.ts'

/** An event as the service sends it. */
export type SentEvent = Omit<ServiceEvent, 'data'> & { data: object }

/** Makes events with ids of their own. */
export class TestEvents {
  #made = 0

  /** A complete event stays as it is. */
  make(what: string | EventDefinition | SentEvent, data: unknown, now: number): SentEvent {
    if (typeof what === 'object' && 'id' in what) return what
    this.#made += 1
    const type = typeof what === 'string' ? what : what.type
    return { id: `evt_test${this.#made}`, type, created: isoTime(now), data: data as object }
  }
}
