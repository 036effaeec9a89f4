/** Runs per second of `count` runs, `inFlight` at once. `run` resolves at the end of one. */
export async function runInLanes(
  { count, inFlight }: { count: number; inFlight: number },
  run: (number: number) => Promise<unknown>,
): Promise<{ runsPerSecond: number }> {
  const begunAt = performance.now()
  let begun = 0
  const lane = async () => {
    while (begun < count) await run(begun++)
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return { runsPerSecond: count / ((performance.now() - begunAt) / 1_000) }
}

/** The ends of runs, told by their own code: a client that polls for a result would come late. */
export class Ends {
  readonly #waiting = new Map<number, () => void>()

  until(run: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(run, resolve))
  }

  tell(run: number): void {
    this.#waiting.get(run)?.()
    this.#waiting.delete(run)
  }
}

/** A library that `--rivals` has installed; its types are not there without that. */
export function load(name: string) {
  return import(name)
}
