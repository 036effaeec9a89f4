import { context, trace } from '@opentelemetry/api'
import type { Caller } from '../../core/notices.ts'
import { stepSpanIdOf, traceIdOf } from '../../core/runs/trace.ts'

/** The place where every copy of OpenTelemetry's API registers its parts. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

/**
 * Calls a step's function in the context of its span, so that spans of its author hang below. Costs
 * one look where the project has set up no OpenTelemetry.
 */
export function runInSpan<T>({ root, run, step, attempt }: Caller, call: () => T): T {
  const registered = (globalThis as { [REGISTRY]?: { context?: unknown } })[REGISTRY]
  if (registered?.context === undefined || root === null) return call()
  const place = { traceId: traceIdOf(root), spanId: stepSpanIdOf(run, step, attempt), traceFlags: 1, isRemote: true }
  return context.with(trace.setSpanContext(context.active(), place), call)
}
