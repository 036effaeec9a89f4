export const verification = {
  /**
   * Of a larger file only the size and the name are compared, since comparing contents takes two
   * downloads.
   */
  largestBytes: 256 * 1024 ** 2,
}
