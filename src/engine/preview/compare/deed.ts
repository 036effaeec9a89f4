import type { PreviewedEffect, Unstarted } from '../previewed.ts'

/** An effect of a run, as a recording or a preview knows it. */
export interface Deed {
  step: string
  class: PreviewedEffect['class']
  /** Such as `files.delete`, or the name of the author's step. */
  operation: string
  target: string | null
  /** Size of a deleted file; null where it is not known. */
  bytes: number | null
  /** JSON text of the state that a delete requires; null: none. Undefined: not known. */
  expect?: string | null | undefined
  /** JSON text of what it is made of; null: nothing is said. Undefined: not known. */
  content?: string | null | undefined
  /** The limit of one run that holds it, in words; null: none. Undefined: not known. */
  heldBy?: string | null | undefined
  /** As in a {@link PreviewedEffect}; null: not known, too. */
  after?: string | null
  /** As in a {@link PreviewedEffect}; a recording does not tell it. */
  begunBefore?: number | null
}

/** The end of a run, in the words of both sides. */
export interface Ending {
  kind: 'completed' | 'continued' | 'failed' | 'skipped' | 'halted' | 'canceled' | 'open'
  /** The error, the reason, or what nothing answers; empty for a run that completed. */
  text: string
  /** JSON text; null where it is not known. */
  output: string | null
}

/** One side of a comparison: what a run did, or would do. */
export interface RunSide {
  end: Ending
  /** In the order in which they began. */
  deeds: Deed[]
  /** Its code is not what the cause of the run starts: it does nothing. Default null: it is. */
  unstarted?: Unstarted | null
}
