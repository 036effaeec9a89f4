import stringWidth from 'string-width'

/** Most code units a column on average: marks may be piled up on one letter. */
const UNITS_A_COLUMN = 32

const segmenter = new Intl.Segmenter()

/** Columns that a terminal shows a text in: wide characters take two, combining marks none. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** Cuts a text to `most` columns, with an ellipsis where it is cut; never within a character. */
export function cutToWidth(text: string, most: number, cut: 'start' | 'end'): string {
  const bound = Math.min(text.length, most * UNITS_A_COLUMN)
  if (bound === text.length && widthOf(text) <= most) return text
  const near = cut === 'start' ? text.slice(text.length - bound) : text.slice(0, bound)
  const characters = Array.from(segmenter.segment(near), ({ segment }) => segment)
  if (cut === 'start') characters.reverse()
  const kept: string[] = []
  let room = most - 1
  for (const character of characters) {
    room -= widthOf(character)
    if (room < 0) break
    kept.push(character)
  }
  return cut === 'start' ? `…${kept.reverse().join('')}` : `${kept.join('')}…`
}
