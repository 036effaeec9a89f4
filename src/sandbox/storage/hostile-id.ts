const SHAPES = [
  (word: string) => `${word}/slash`,
  (word: string) => `${word}?query=1&more#fragment`,
  (word: string) => `${word}%2e%2e%2fencoded`,
  (word: string) => `${word} with spaces; and = signs`,
  (word: string) => `${word}-größe-日本-😀`,
  (word: string) => `..${word}`,
  (word: string) => `${word}+plus"quote'<tag>`,
]

/**
 * An id that is legal, as ids are opaque, and breaks a client that builds URLs without encoding: of
 * the n-th shape.
 */
export function hostileId(word: string, n: number): string {
  return SHAPES[n % SHAPES.length]?.(word) ?? word
}
