/** Children at work at the same time. */
const LANES = 4

/**
 * Calls `survive` for the first call of the store, the second and so on, until a process lived to
 * its end. Gives the number of that call: every one before it was a death.
 */
export async function dieAtEveryCall(survive: (call: number) => Promise<boolean>): Promise<number> {
  let next = 1
  let survivedAt = Infinity
  const lane = async () => {
    while (next < survivedAt) {
      const call = next++
      if (await survive(call)) survivedAt = Math.min(survivedAt, call)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return survivedAt
}
