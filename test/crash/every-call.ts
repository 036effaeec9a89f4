/**
 * Runs `survive` for a death at store call 1, 2 and so on, until a process lives on. Returns
 * the number of that call. `usual`: only each second, third … call, beginning anywhere, unless
 * `UPSHOT_TEST_EVERY` says otherwise. One life at a time: beside the last, another would be wasted.
 */
export async function dieAtEveryCall(survive: (call: number) => Promise<boolean>, usual = 1): Promise<number> {
  const every = Number(process.env.UPSHOT_TEST_EVERY ?? usual)
  let call = 1 + Math.floor(Math.random() * every)
  while (!(await survive(call))) call += every
  return call
}
