/** Processes that run at the same time: more would slow the suites beside, and end no sooner. */
const LANES = 2

/**
 * Runs `survive` for a death at store call 1, 2 and so on, until a process lives on. Returns
 * the number of that call. `usual`: only each second, third … call, beginning anywhere, unless
 * `UPSHOT_TEST_EVERY` says otherwise.
 */
export async function dieAtEveryCall(survive: (call: number) => Promise<boolean>, usual = 1): Promise<number> {
  const every = Number(process.env.UPSHOT_TEST_EVERY ?? usual)
  let next = 1 + Math.floor(Math.random() * every)
  let survivedAt = Infinity
  const lane = async () => {
    while (next < survivedAt) {
      const call = next
      next += every
      if (await survive(call)) survivedAt = Math.min(survivedAt, call)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return survivedAt
}
