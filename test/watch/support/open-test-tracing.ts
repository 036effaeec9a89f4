import type { Span } from '../../../src/watch/traces/plan-spans.ts'
import { Tracing } from '../../../src/watch/traces/tracing.ts'
import { NOW } from './run-notices.ts'

/** Tracing whose spans are kept instead of sent. */
export function openTestTracing({ ratio = 1 } = {}) {
  const sent: Span[] = []
  const queue = { add: (spans: readonly Span[]) => void sent.push(...spans), stop: async () => {}, dropped: 0 }
  return { sent, tracing: new Tracing({ queue, now: () => NOW, ratio }) }
}
