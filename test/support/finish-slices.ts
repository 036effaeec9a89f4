/** The result of work that pauses after each slice. */
export function finishSlices<T>(slices: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}
