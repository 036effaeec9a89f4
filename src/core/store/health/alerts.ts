import type { AlertBook } from '../../alerts/alert-book.ts'

/** The book of a rule, and a number that rises with each change of it. */
export interface KeptBook {
  book: AlertBook
  version: number
}

export interface AlertWrites {
  /**
   * Compare-and-set: replaces the book of `version`; false when another process was first. A rule
   * without a book has version 0.
   */
  saveAlertBook(rule: string, book: AlertBook, version: number): Promise<boolean>
  /** Removes the books of all rules but these. */
  keepAlertBooks(rules: readonly string[]): Promise<void>
}

export interface AlertReads {
  /** Null when there is none yet. */
  loadAlertBook(rule: string): Promise<KeptBook | null>
}
