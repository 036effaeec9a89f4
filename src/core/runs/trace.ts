import { hash } from 'node:crypto'

/** The event, tick or start that a run goes back to: of an invoked run, that of the one above. */
export type RunRoot =
  | { kind: 'event'; account: string; event: string }
  /** `schedule`: its id, of a line in code that of its workflow. `scheduledFor`: epoch ms. */
  | { kind: 'tick'; schedule: string; scheduledFor: number }
  /** A program started it through the admin API. */
  | { kind: 'start'; run: string }

/** Bytes of a trace id and of a span id, in hexadecimal digits. */
const TRACE_DIGITS = 32
const SPAN_DIGITS = 16

/** Known ids: the notices of a run share its root, and a hash costs most of a span. */
const traceIds = new WeakMap<RunRoot, string>()

/**
 * The trace of everything that goes back to one root: 32 hexadecimal digits. Every process computes
 * the same, so nothing is stored. See decision 50.
 */
export function traceIdOf(root: RunRoot): string {
  const known = traceIds.get(root)
  if (known !== undefined) return known
  const made = digits(TRACE_DIGITS, ['trace', root.kind, ...namesOf(root)])
  traceIds.set(root, made)
  return made
}

function namesOf(root: RunRoot): string[] {
  switch (root.kind) {
    case 'event':
      return [root.account, root.event]
    case 'tick':
      return [root.schedule, String(root.scheduledFor)]
    case 'start':
      return [root.run]
    default:
      return root satisfies never
  }
}

/** The span of an event's first delivery, under which its runs hang: 16 hexadecimal digits. */
export function eventSpanIdOf({ account, event }: { account: string; event: string }): string {
  return digits(SPAN_DIGITS, ['event', account, event])
}

export function runSpanIdOf(run: string): string {
  return digits(SPAN_DIGITS, ['run', run])
}

/** The span of one attempt of a step, counted from 1. */
export function stepSpanIdOf(run: string, step: string, attempt: number): string {
  return digits(SPAN_DIGITS, ['step', run, step, String(attempt)])
}

/** The span of the call to the Files API that an attempt of a step makes. */
export function callSpanIdOf(run: string, step: string, attempt: number): string {
  return digits(SPAN_DIGITS, ['call', run, step, String(attempt)])
}

/** Names are joined as JSON, so that no two lists look alike. */
function digits(count: number, names: readonly string[]): string {
  return hash('sha256', JSON.stringify(names), 'hex').slice(0, count)
}
