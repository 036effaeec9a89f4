import { createHmac } from 'node:crypto'
import type { EffectRecord } from '../effect.ts'

/** Number of a ledger row, the MAC of its texts as they were sealed, and of those since. */
export type ErasedMark = [seq: number, was: string, is: string]

/** The columns of a ledger row with text that a person may ask to erase. */
type Texts = Pick<EffectRecord, 'operation' | 'target' | 'path' | 'step' | 'asked' | 'expect' | 'before' | 'error'>

/** The MAC over the texts of a row, in hex. It stays where the texts go. */
export function macTexts(key: Uint8Array, row: Texts): string {
  const { operation, target, path, step, asked, expect, before, error } = row
  const texts = JSON.stringify([operation, target, path, step, asked, expect, before, error])
  return createHmac('sha256', key).update('texts 1\n').update(texts).digest('hex')
}

/** The MAC of its texts as they were when the row was sealed. */
export function sealedTexts(key: Uint8Array, row: EffectRecord): string {
  return row.erased === null ? macTexts(key, row) : readErased(row.erased).was
}

/**
 * The row in which a person erased text of this one, and the MAC of the texts of before. No row is
 * numbered 0: somebody else wrote what cannot be read.
 */
export function readErased(erased: string): { by: number; was: string } {
  try {
    const { by, was } = JSON.parse(erased) as { by: number; was: string }
    return { by: Number(by), was: String(was) }
  } catch {
    return { by: 0, was: '' }
  }
}

/** Whether a person's row tells of the erasure, and the texts are those that it left. */
export function isErasedBy(word: EffectRecord | undefined, row: EffectRecord, key: Uint8Array): boolean {
  if (row.erased === null || word === undefined) return false
  const { by, was } = readErased(row.erased)
  if (word.seq !== by || word.operation !== 'erase' || word.asked === null) return false
  const { rows = [] } = JSON.parse(word.asked) as { rows?: ErasedMark[] }
  const mark = rows.find(([seq]) => seq === row.seq)
  return mark !== undefined && mark[1] === was && mark[2] === macTexts(key, row)
}
