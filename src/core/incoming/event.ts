/** An event as the service sent it, or as `step.send` made it. */
export interface ServiceEvent<Type extends string = string, Data = Record<string, unknown>> {
  /** `evt_` and an opaque word, at most 200 characters; unique within an account. */
  id: string
  /** Words joined by dots, such as `file.created`; at most 100 characters. */
  type: Type
  /** ISO 8601 with an offset, as the sender wrote it. */
  created: string
  /** An object; its shape depends on the type, and the service documents none. */
  data: Data
}

/** The event that started a run, as the workflow's code gets it. */
export interface ReceivedEvent<Type extends string = string, Data = Record<string, unknown>>
  extends ServiceEvent<Type, Data> {
  /** The account of the endpoint that received it, or of the run that sent it. */
  account: string
  /**
   * True for a `file.deleted` that a delete of this app caused. Test it first, or the workflow
   * reacts to its own deletes.
   */
  isSelfCaused: boolean
}

/**
 * How the event reached us: as a delivery, or by `step.send`. `reconcile`: it never did, and was
 * made up after a sweep.
 */
export type EventOrigin = 'webhook' | 'send' | 'reconcile'

/** Types with this prefix are our own; workflows cannot send them. */
export const OWN_TYPES = 'upshot.'

/** Type of the events that test an endpoint. */
export const TEST_EVENT = 'upshot.test'

/**
 * True when a type matches a pattern: the type itself, a family such as `file.*`, or `*`. `*`
 * leaves out our own family `upshot.`, so that testing an endpoint starts nothing.
 */
export function matchType(pattern: string, type: string): boolean {
  if (pattern === type) return true
  if (pattern === '*') return !type.startsWith(OWN_TYPES)
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))
}

/**
 * The number of a stored event. Within a stream, numbers rise in the order of commits: a reader
 * never meets a lower one later. They have gaps. Streams have no common order.
 */
export interface EventNumber {
  /** The events of an account are in one stream. A SQLite database has one stream, 0. */
  stream: number
  seq: number
}

export interface EventRecord extends EventNumber {
  id: string
  account: string
  type: string
  origin: EventOrigin
  /** When the service made it, in epoch milliseconds. */
  createdAt: number
  /** When we stored it, in epoch milliseconds. */
  receivedAt: number
  /** The signed text; empty after retention has pruned it. */
  body: string
}

/** Characters of a subject that are kept; they are its last ones, which hold the name. */
const MAX_SUBJECT = 300

/** The path of the file that an event is about, or the target of its transfer; null without one. */
export function subjectOf({ data }: Pick<ServiceEvent, 'data'>): string | null {
  const { file, transfer } = data as Record<string, Named | undefined>
  const path = file?.path ?? transfer?.destination?.path ?? transfer?.source?.path
  return typeof path === 'string' ? path.slice(-MAX_SUBJECT) : null
}

interface Named {
  path?: unknown
  source?: Named
  destination?: Named
}
