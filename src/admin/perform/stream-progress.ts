import { setTimeout as pause } from 'node:timers/promises'
import type { WorkDone } from '../contract/route.ts'

/** How often an asker is told how far a long operation is, at most. */
const PACE_MS = 250
/** A proxy may close a stream that is silent for longer. */
const SILENT_MS = 15_000

/** One message of a long operation: its progress, or the answer that ends it. */
type Told = { progress: WorkDone } | { answer: unknown }

/** Performs an operation, and tells how far it is and then its answer. Throws what it throws. */
export async function* streamProgress(
  perform: (tell: (work: WorkDone) => void) => Promise<unknown>,
): AsyncGenerator<Told, void> {
  let work: WorkDone = { done: 0, total: null }
  let told: WorkDone | null = null
  const ended = perform((next) => {
    work = next
  }).then((answer) => ({ answer }))
  // Awaited below, where a failure is thrown.
  ended.catch(() => {})
  for (let silentMs = 0; ; silentMs += PACE_MS) {
    if (work !== told || silentMs >= SILENT_MS) {
      silentMs = 0
      told = work
      yield { progress: work }
    }
    const end = await Promise.race([ended, pause(PACE_MS, null)])
    if (end === null) continue
    if (work !== told) yield { progress: work }
    yield end
    return
  }
}
