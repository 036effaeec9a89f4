const SHAPES = [
  (word: string) => `${word}/slash`,
  (word: string) => `${word}?query=1&more#fragment`,
  (word: string) => `${word}%2e%2e%2fencoded`,
  (word: string) => `${word} with spaces; and = signs`,
  (word: string) => `${word}-größe-日本-😀`,
  (word: string) => `..${word}`,
  (word: string) => `${word}+plus"quote'<tag>`,
]

/** The n-th shape of a legal id that breaks clients which build URLs without encoding. */
export function hostileId(word: string, n: number): string {
  return SHAPES[n % SHAPES.length]?.(word) ?? word
}
