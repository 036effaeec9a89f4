/** Selects events; every part narrows. A pruned event has neither a path nor words. */
export interface EventSearch {
  /** Received at this moment or later, in epoch milliseconds. */
  since?: number
  /** Received before this moment, in epoch milliseconds. */
  until?: number
  /** The first characters of the id, exactly; ids are foreign text of any form. */
  idBeginning?: string
  /** A type, or a family such as `file.*`. */
  type?: string
  account?: string
  /** As `storage_a:/in/a.pdf`, or without the storage; a `*` at the end stands for any rest. */
  path?: string
  /**
   * A file or id that the event tells of, such as `storage_a:/in/a.pdf` or `trf_1`; see
   * `listSubjects`.
   */
  subject?: string
  /** Words that the body contains, each anywhere; ASCII letters in any case. */
  words?: readonly string[]
}
