import { findDefinition, inputOf, planRoutes } from '../../author/read-workflow.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import { deriveId } from '../../core/ids.ts'
import { type EventRecord, parseEvent, type ReceivedEvent, type ServiceEvent } from '../../core/incoming/event.ts'
import { isPlainObject } from '../../core/json.ts'
import { accountOf, type ClaimedRun, type RunCause } from '../../core/runs/claim.ts'
import { isoTime } from '../../core/time.ts'
import type { Cause } from './cause.ts'
import { fitEvent } from './fit-event.ts'
import type { EventFacts } from './gather-event-facts.ts'

/**
 * What caused the run, as its author sees it; throws where it is not what the workflow relies on.
 */
export function readCause(run: ClaimedRun, workflow: AnyWorkflow, facts: EventFacts): Cause {
  const account = accountOf(run.cause)
  switch (run.cause.kind) {
    case 'tick':
      return { account, tick: readTick(run.cause) }
    case 'event':
      return { account, event: readStoredEvent(run.cause.event, workflow, facts) }
    case 'call':
      return { account, ...withStorageNames(facts.spellings, () => readCall(run, workflow, facts)) }
    default:
      return run.cause satisfies never
  }
}

/**
 * A stored event as the workflow's schema gives it; throws where it is not what the workflow relies
 * on, or is pruned.
 */
export function readStoredEvent({ id, body }: EventRecord, workflow: AnyWorkflow, facts: EventFacts): ReceivedEvent {
  if (body === '') throw new Error(`the body of its event ${id} is pruned`)
  // It was checked before it was stored.
  return fitToWorkflow(JSON.parse(body), workflow, facts)
}

function fitToWorkflow(
  event: ServiceEvent,
  workflow: AnyWorkflow,
  { isSelfCaused, spellings }: EventFacts,
): ReceivedEvent {
  const definition = findDefinition(workflow.on, event.type)
  return withStorageNames(spellings, () => fitEvent({ ...event, isSelfCaused }, definition))
}

/** A callable workflow gets its input; any other an event, made from what the caller said of it. */
function readCall(
  run: ClaimedRun,
  workflow: AnyWorkflow,
  facts: EventFacts,
): { input: unknown } | { event: ReceivedEvent } {
  const input: unknown = run.cause.kind === 'call' ? JSON.parse(run.cause.input) : null
  const schema = inputOf(workflow)
  if (!schema) return { event: fitToWorkflow(parseEvent(completeEvent(run, workflow, input)), workflow, facts) }
  const parsed = schema.safeParse(input ?? undefined)
  if (parsed.success) return { input: parsed.data }
  const faults = parsed.error.issues.map(({ path, message }) => `${['input', ...path].join('.')}: ${message}`)
  throw new UpshotError('invalid_request', `The input is not what the workflow takes: ${faults.join('; ')}`)
}

function completeEvent({ lease, createdAt }: ClaimedRun, workflow: AnyWorkflow, input: unknown): object {
  const [only, ...others] = planRoutes(workflow)
  const type = only && others.length === 0 ? { type: only.eventType } : {}
  const given = isPlainObject(input) ? input : {}
  return { id: deriveId('evt', lease.runId), created: isoTime(createdAt), ...type, ...given }
}

function readTick({ scheduledFor, lastRunAt, missed }: Extract<RunCause, { kind: 'tick' }>) {
  return {
    scheduledFor: new Date(scheduledFor),
    lastRunAt: lastRunAt === null ? null : new Date(lastRunAt),
    missed,
  }
}
