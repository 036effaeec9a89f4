import type { ReadStore } from '../../core/store/store.ts'
import { systemClock, waitUntil } from '../../core/time.ts'
import { ChangeWatch } from '../../project/data-dir/change-watch.ts'
import { onInterrupt } from './on-interrupt.ts'
import type { Output } from './output.ts'

/** One line of something that goes on: a JSON document of its own, or text. */
export interface TailLine {
  data: unknown
  line: string
}

/**
 * Prints what `look` gives, now and after each change of the store, until Ctrl-C or for `forMs`.
 * Under `--json` and `--ndjson` each is a document on a line of its own: a result that never ends
 * has no other form.
 */
export async function follow(
  out: Output,
  { store, forMs }: { store: ReadStore; forMs?: number },
  look: () => Promise<TailLine[]>,
): Promise<void> {
  const ended = onInterrupt()
  const failed = Promise.withResolvers<never>()
  let looking = Promise.resolve()
  const print = async () => {
    for (const { data, line } of await look()) write(out, data, line)
  }
  const lookAgain = () => {
    looking = looking.then(print)
    looking.catch(failed.reject)
  }
  const watch = new ChangeWatch({ store, clock: systemClock, onChange: lookAgain })
  lookAgain()
  watch.start()
  try {
    const end = forMs === undefined ? Number.MAX_SAFE_INTEGER : systemClock.now() + forMs
    await Promise.race([waitUntil(systemClock, end, ended).catch(() => {}), failed.promise])
  } finally {
    await watch.stop()
    await looking.catch(() => {})
  }
}

function write(out: Output, data: unknown, line: string): void {
  const { json, ndjson } = out.given
  out.streams.stdout.write(`${json || ndjson ? JSON.stringify(data) : line}\n`)
}
