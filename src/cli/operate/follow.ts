import { systemClock, waitUntil } from '../../core/time.ts'
import type { Operations } from '../open/operations.ts'
import { onInterrupt } from '../terminal/on-interrupt.ts'
import type { Output } from '../terminal/output.ts'

/** How often a server is asked. */
const LOOK_MS = 1_000

/** One line of an endless result, as a JSON document and as text. */
interface TailLine {
  data: unknown
  line: string
}

/**
 * Prints the lines of `readNew`, until Ctrl-C or `forMs`: now, and after each change of the store.
 * A server is asked each second. `--json` prints one document per line, as `--ndjson` does: the
 * result has no end.
 */
export async function follow(
  out: Output,
  { operations, forMs }: { operations: Pick<Operations, 'local'>; forMs?: number },
  readNew: () => Promise<TailLine[]>,
): Promise<void> {
  const ended = onInterrupt()
  const failed = Promise.withResolvers<never>()
  let printing = Promise.resolve()
  const print = async () => {
    for (const { data, line } of await readNew()) write(out, data, line)
  }
  const printNew = () => {
    printing = printing.then(print)
    printing.catch(failed.reject)
  }
  printNew()
  const watch = operations.local?.store.watch(systemClock, printNew) ?? lookEvery(LOOK_MS, printNew)
  try {
    const end = forMs === undefined ? Number.MAX_SAFE_INTEGER : systemClock.now() + forMs
    await Promise.race([waitUntil(systemClock, end, ended).catch(() => {}), failed.promise])
  } finally {
    watch.stop()
    await printing.catch(() => {})
  }
}

/** A server is asked again and again. */
function lookEvery(ms: number, look: () => void): { stop(): void } {
  const timer = setInterval(look, ms)
  return { stop: () => clearInterval(timer) }
}

function write(out: Output, data: unknown, line: string): void {
  const { json, ndjson } = out.given
  out.streams.stdout.write(`${json || ndjson ? JSON.stringify(data) : line}\n`)
}
