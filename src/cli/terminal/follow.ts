import type { ReadStore } from '../../core/store/store.ts'
import { systemClock, waitUntil } from '../../core/time.ts'
import { onInterrupt } from './on-interrupt.ts'
import type { Output } from './output.ts'

/** One line of an endless result, as a JSON document and as text. */
interface TailLine {
  data: unknown
  line: string
}

/**
 * Prints the lines of `readNew`, now and after each change of the store, until Ctrl-C or `forMs`.
 * `--json` prints one document per line, as `--ndjson` does: the result has no end.
 */
export async function follow(
  out: Output,
  { store, forMs }: { store: ReadStore; forMs?: number },
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
  const watch = store.watch(systemClock, printNew)
  try {
    const end = forMs === undefined ? Number.MAX_SAFE_INTEGER : systemClock.now() + forMs
    await Promise.race([waitUntil(systemClock, end, ended).catch(() => {}), failed.promise])
  } finally {
    watch.stop()
    await printing.catch(() => {})
  }
}

function write(out: Output, data: unknown, line: string): void {
  const { json, ndjson } = out.given
  out.streams.stdout.write(`${json || ndjson ? JSON.stringify(data) : line}\n`)
}
