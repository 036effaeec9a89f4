import { isoTime } from '../../core/time.ts'

/** A moment as text; null stays null. */
export function momentOf(moment: number | null): string | null {
  return moment === null ? null : isoTime(moment)
}
