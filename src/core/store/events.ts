import { UpshotError } from '../errors.ts'
import type { EventRecord } from '../incoming/event.ts'

/** Where an event stands in the lists of `listEvents`; opaque to callers. */
export function markEvent({ receivedAt, stream, seq }: Pick<EventRecord, 'receivedAt' | 'stream' | 'seq'>): string {
  return `${receivedAt}.${stream}.${seq}`
}

/** The event of a mark. Throws `invalid_request` for any other text. */
export function readEventMark(mark: string): Pick<EventRecord, 'receivedAt' | 'stream' | 'seq'> {
  const [receivedAt, stream, seq] = mark.split('.').map(Number)
  if (Number.isSafeInteger(receivedAt) && Number.isSafeInteger(stream) && Number.isSafeInteger(seq))
    return { receivedAt, stream, seq } as Pick<EventRecord, 'receivedAt' | 'stream' | 'seq'>
  throw new UpshotError('invalid_request', `"${mark}" is not a position in a list of events.`)
}

/** Subjects of events as hashes, on their way into the index of a store. */
export interface SubjectBatch {
  /** Events up to this number are indexed already, and those up to `to` are once it is saved. */
  after: number
  to: number
  /**
   * A number and a hash in turns: a list of pairs costs more to send between threads than to make.
   */
  rows: Float64Array
}

/** Events of a stream, numbered above `after` and up to `upTo`; `types` null: of every type. */
export interface EventRange {
  stream: number
  after: number
  upTo: number
  types: readonly string[] | null
}
