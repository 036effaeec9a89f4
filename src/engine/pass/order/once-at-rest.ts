/** Node's own way to do all microtasks and ticks, as between two timers. See decision 33. */
const { _tickCallback: settle } = process as unknown as { _tickCallback: () => void }

let due: (() => void)[] = []
let next: (() => void)[] = []
let isPlanned = false

/**
 * Calls back once the code of this thread rests: all microtasks and ticks are done, and what they
 * set off. It rests again before the next call for the same pass.
 */
export function onceAtRest(call: () => void): void {
  due.push(call)
  if (isPlanned) return
  isPlanned = true
  process.nextTick(callAll)
}

function callAll(): void {
  try {
    settle()
    while (due.length > 0) {
      ;[due, next] = [next, due]
      for (const call of next) call()
      next.length = 0
      settle()
    }
  } finally {
    // Ticks of authors may throw here, as anywhere.
    isPlanned = due.length > 0
    if (isPlanned) process.nextTick(callAll)
  }
}
