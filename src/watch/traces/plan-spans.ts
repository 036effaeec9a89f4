import type { Failure } from '../../core/errors.ts'
import type { AboutRun, Notice, NoticeOf } from '../../core/notices.ts'
import {
  callSpanIdOf,
  eventSpanIdOf,
  type RunRoot,
  runSpanIdOf,
  stepSpanIdOf,
  traceIdOf,
} from '../../core/runs/trace.ts'

/** The side of a call that a span is on, as OpenTelemetry numbers it. */
export const SPAN_KINDS = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const

export interface SpanIds {
  traceId: string
  spanId: string
}

/** Something that happened within a span, at an epoch millisecond. */
interface SpanEvent {
  name: string
  at: number
  attributes: Record<string, string | number>
}

/** A finished span. Times are epoch milliseconds. */
export interface Span extends SpanIds {
  parentId: string | null
  name: string
  kind: keyof typeof SPAN_KINDS
  startedAt: number
  endedAt: number
  attributes: Record<string, string | number>
  /** The reason, where it failed. */
  error: string | null
  links: readonly SpanIds[]
  /** In the order of time. */
  events: readonly SpanEvent[]
}

type RunEnd = NoticeOf<'run.completed' | 'run.failed' | 'run.canceled' | 'run.skipped' | 'run.planned'>
type Attempt = NoticeOf<'step.completed' | 'step.failed'>

/** The spans that a notice tells of: none for most. `now`: epoch milliseconds. */
export function planSpans(notice: Notice, now: number): Span[] {
  switch (notice.kind) {
    case 'delivery.received':
      return planDelivery(notice, now)
    case 'run.completed':
    case 'run.failed':
    case 'run.canceled':
    case 'run.skipped':
    case 'run.planned':
      return planRun(notice, now)
    case 'step.completed':
      return planAttempt(notice, now, notice.sent)
    case 'step.failed':
      return planAttempt(notice, now)
    case 'files.called':
      return planCall(notice, now)
    default:
      return []
  }
}

/** Only the first delivery of an event: a repeated one has the same place in the trace. */
function planDelivery(notice: NoticeOf<'delivery.received'>, now: number): Span[] {
  const { verdict, account, event, endpoint, endpointName, type, delivery, facts, ms } = notice
  if (verdict !== 'accepted' || account === null || event === null) return []
  const link = facts.traceparent === undefined ? null : parseTraceparent(facts.traceparent)
  return [
    {
      ...eventPlace(account, event),
      parentId: null,
      name: 'POST /hooks/{endpoint}',
      kind: 'server',
      ...timesOf(now, ms),
      attributes: {
        'upshot.endpoint': endpoint ?? '',
        'upshot.endpoint.name': endpointName ?? '',
        'upshot.delivery': delivery,
        'upshot.event': event,
        'upshot.event.type': type ?? '',
      },
      error: null,
      links: link === null ? [] : [link],
      events: [],
    },
  ]
}

function planRun(notice: RunEnd, now: number): Span[] {
  const { root, run, workflow, parentRun, originRun, ms } = notice
  if (root === null || ms === null) return []
  const event = root.kind === 'event' ? eventSpanIdOf(root) : null
  return [
    {
      traceId: traceIdOf(root),
      spanId: runSpanIdOf(run),
      parentId: parentRun === null ? event : runSpanIdOf(parentRun),
      name: `run ${workflow}`,
      kind: 'consumer',
      ...timesOf(now, ms),
      attributes: {
        'upshot.run': run,
        'upshot.workflow': workflow,
        'upshot.outcome': notice.kind.slice(4),
        ...('waitedMs' in notice ? { 'upshot.start_delay_ms': notice.waitedMs } : {}),
      },
      error: notice.kind === 'run.failed' ? nameError(notice.error) : null,
      // A run that repeats another one has the same root, and so the same trace.
      links: originRun === undefined ? [] : [{ traceId: traceIdOf(root), spanId: runSpanIdOf(originRun) }],
      events: [],
    },
  ]
}

/** With `sent`, also the span of the event that the step sent: it begins a trace of its own. */
function planAttempt(notice: Attempt, now: number, sent?: string): Span[] {
  const { root, run, workflow, step, attempt, effect, ms } = notice
  if (root === null) return []
  const place = { traceId: traceIdOf(root), spanId: stepSpanIdOf(run, step, attempt) }
  const event = sent === undefined ? null : eventPlace(accountOf(root), sent)
  const span: Span = {
    ...place,
    parentId: runSpanIdOf(run),
    name: `step ${step}`,
    kind: 'internal',
    ...timesOf(now, ms),
    attributes: { ...attributesOf(notice), 'upshot.step': step, 'upshot.attempt': attempt, 'upshot.effect': effect },
    error: notice.kind === 'step.failed' ? nameError(notice.error) : null,
    links: event === null ? [] : [event],
    events: [],
  }
  if (event === null) return [span]
  const attributes = { 'upshot.run': run, 'upshot.workflow': workflow, 'upshot.event': sent ?? '' }
  const name = 'send event'
  return [span, { ...span, ...event, parentId: null, name, kind: 'producer', attributes, links: [place] }]
}

function planCall(notice: NoticeOf<'files.called'>, now: number): Span[] {
  const { caller, operation, service, status, outcome, attempts, ms, waitedMs } = notice
  if (caller === null || caller.root === null) return []
  const { run, step, attempt, root } = caller
  return [
    {
      traceId: traceIdOf(root),
      spanId: callSpanIdOf(run, step, attempt),
      parentId: stepSpanIdOf(run, step, attempt),
      name: `files.${operation}`,
      kind: 'client',
      ...timesOf(now, ms),
      attributes: {
        ...attributesOf(caller),
        'upshot.storage': service,
        'upshot.requests': attempts,
        'upshot.waited_ms': waitedMs,
        ...(status === null ? {} : { 'http.response.status_code': status }),
      },
      error: outcome === 'ok' || outcome === 'left' ? null : outcome,
      links: [],
      events: listEvents(notice, now - ms),
    },
  ]
}

/** The waits of a call and its further requests, which follow each other from `startedAt` on. */
function listEvents({ tries = [] }: NoticeOf<'files.called'>, startedAt: number): SpanEvent[] {
  const events: SpanEvent[] = []
  let at = startedAt
  for (const [index, { waitedMs, ms }] of tries.entries()) {
    const failed = index === 0 ? null : (tries[index - 1] ?? null)
    const reason = { 'upshot.reason': failed?.reason ?? 'limit' }
    if (waitedMs > 0) events.push({ name: 'wait', at, attributes: { ...reason, 'upshot.waited_ms': waitedMs } })
    at += waitedMs
    if (failed !== null) events.push({ name: 'retry', at, attributes: { ...reason, 'upshot.request': index + 1 } })
    at += ms
  }
  return events
}

/** Without the message, which may hold anything: it is in the database. */
function nameError({ name, code }: Failure): string {
  return code === undefined ? name : `${name} ${code}`
}

function attributesOf({ run, workflow }: AboutRun): Record<string, string> {
  return { 'upshot.run': run, 'upshot.workflow': workflow }
}

/** An event that a step sends has the account of its run; a tick's is the default one. */
function accountOf(root: RunRoot): string {
  return root.kind === 'event' ? root.account : 'default'
}

function eventPlace(account: string, event: string): SpanIds {
  return { traceId: traceIdOf({ kind: 'event', account, event }), spanId: eventSpanIdOf({ account, event }) }
}

function timesOf(endedAt: number, ms: number): { startedAt: number; endedAt: number } {
  return { startedAt: endedAt - ms, endedAt }
}

/** The place that a sender's `traceparent` names; null for a text of another form. */
function parseTraceparent(text: string): SpanIds | null {
  const [, traceId, spanId] = /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(text) ?? []
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId }
}
