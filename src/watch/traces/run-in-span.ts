import { createRequire } from 'node:module'
import type { Caller } from '../../core/notices.ts'
import { stepSpanIdOf, traceIdOf } from '../../core/runs/trace.ts'

const load = createRequire(import.meta.url)

/** The place where every copy of OpenTelemetry's API registers its parts. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

/**
 * Calls a step's function in the context of its span, so that spans of its author hang below. Costs
 * one look where the project has set up no OpenTelemetry.
 */
export function runInSpan<T>({ root, run, step, attempt }: Caller, call: () => T): T {
  const registered = (globalThis as { [REGISTRY]?: { context?: unknown } })[REGISTRY]
  if (registered?.context === undefined || root === null) return call()
  // Loaded at the first such step; every copy of the API shares its registry.
  const { context, trace } = load('@opentelemetry/api') as typeof import('@opentelemetry/api')
  const place = { traceId: traceIdOf(root), spanId: stepSpanIdOf(run, step, attempt), traceFlags: 1, isRemote: true }
  return context.with(trace.setSpanContext(context.active(), place), call)
}
