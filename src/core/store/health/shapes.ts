import type { ShapeBook } from '../../service/shapes/shape-book.ts'

/** The book of all types, and a number that rises with each change of it. */
export interface KeptShapes {
  book: ShapeBook
  version: number
}

export interface ShapeWrites {
  /** Compare-and-set: replaces the book of `version`, 0 for none; false when another was first. */
  saveShapeBook(book: ShapeBook, version: number): Promise<boolean>
}

export interface ShapeReads {
  /** Null when there is none yet. */
  loadShapeBook(): Promise<KeptShapes | null>
}
