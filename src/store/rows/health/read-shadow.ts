import { type KeptShadow, SHADOWS_KEPT } from '../../../core/store/health/shadows.ts'

export type ShadowRow = Pick<KeptShadow, 'code' | 'version'> & { book: string }

/** Of differences. Index: primary key; a workflow has at most five rows. */
export const SHADOW_SQL = {
  list: 'SELECT code, book, version FROM shadow_book WHERE workflow = ? ORDER BY since DESC, code',
  insert: `INSERT INTO shadow_book (workflow, code, since, book, version) VALUES (?, ?, ?, ?, 1)
    ON CONFLICT (workflow, code) DO NOTHING`,
  update: 'UPDATE shadow_book SET book = ?, version = version + 1 WHERE workflow = ? AND code = ? AND version = ?',
  prune: `DELETE FROM shadow_book WHERE workflow = ? AND code NOT IN (
    SELECT code FROM shadow_book WHERE workflow = ? ORDER BY since DESC, code LIMIT ${SHADOWS_KEPT})`,
} as const

export function readShadow({ book, ...row }: ShadowRow): KeptShadow {
  return { ...row, book: JSON.parse(book) }
}
