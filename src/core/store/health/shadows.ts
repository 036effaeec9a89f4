import type { ShadowBook } from '../../safety/differences/shadow-book.ts'

/** The book of a shadow, and a number that rises with each change of it. */
export interface KeptShadow {
  /** Hash of the shadow's code: edited code has a book of its own. */
  code: string
  book: ShadowBook
  version: number
}

/** Shadows of a workflow whose books are kept, newest first. */
export const SHADOWS_KEPT = 5

export interface ShadowWrites {
  /**
   * Compare-and-set: replaces the book of `version`, 0 for none; false when another process was
   * first. Of a workflow, the books of its newest shadows are kept.
   */
  saveShadow(workflow: string, shadow: KeptShadow): Promise<boolean>
}

export interface ShadowReads {
  /** Newest first. */
  listShadows(workflow: string): Promise<KeptShadow[]>
}
