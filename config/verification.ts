export const verification = {
  /** Larger files are compared by size and name only: comparing contents takes two downloads. */
  maxBytes: 256 * 1024 ** 2,
}
