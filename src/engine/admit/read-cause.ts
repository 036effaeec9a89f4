import type { Tick } from '../../author/cron.ts'
import type { EventDefinition } from '../../author/define-event.ts'
import { findDefinition, inputOf } from '../../author/read-workflow.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import { isDefinition, listTriggers } from '../../author/trigger.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import { deriveEventId } from '../../core/ids.ts'
import type { EventRecord, ReceivedEvent, ServiceEvent } from '../../core/incoming/event.ts'
import { parseEvent } from '../../core/incoming/parse-event.ts'
import { describeIssues, isPlainObject } from '../../core/json.ts'
import { accountOf, type CauseTick, type ClaimedRun, type RunCause } from '../../core/runs/claim.ts'
import { isoTime } from '../../core/time.ts'
import type { EventFacts } from './gather-event-facts.ts'

/** The cause as the author sees it. Throws where it does not fit the workflow's definitions. */
export function readCause(run: ClaimedRun, workflow: AnyWorkflow, facts: EventFacts): Cause {
  const account = accountOf(run.cause)
  switch (run.cause.kind) {
    case 'tick':
      return { account, tick: readTick(run.cause) }
    case 'event':
      return { account, event: readStoredEvent(run.cause.event, workflow, facts) }
    case 'call':
      return { account, ...readCall(describeCall(run, run.cause), workflow, facts) }
    default:
      return run.cause satisfies never
  }
}

/** A stored event parsed by the workflow's schema. Throws where it does not fit, or is pruned. */
export function readStoredEvent(
  { id, account, body }: EventRecord,
  workflow: AnyWorkflow,
  facts: EventFacts,
): ReceivedEvent {
  if (body === '') throw new Error(`the body of its event ${id} is pruned`)
  // `parseEvent` checked it before it was stored.
  return fitToWorkflow({ ...JSON.parse(body), account }, workflow, facts)
}

function fitToWorkflow(
  event: ServiceEvent & { account: string },
  workflow: Pick<AnyWorkflow, 'on'>,
  { isSelfCaused, spellings }: EventFacts,
): ReceivedEvent {
  const definition = findDefinition(workflow.on, event.type)
  return withStorageNames(spellings, () => fitEvent({ ...event, isSelfCaused }, definition))
}

/** An invocation, before or after its run is made. */
interface Call {
  runId: string
  account: string
  createdAt: number
  tick?: CauseTick
  /** JSON text. */
  input: string
}

/**
 * The input of a callable workflow; for any other an event, completed from the input. Throws where
 * it does not fit the workflow's schema.
 */
export function readCall(
  call: Call,
  workflow: Pick<AnyWorkflow, 'on'>,
  facts: EventFacts,
): { input: unknown; tick: Tick | null } | { event: ReceivedEvent } {
  return withStorageNames(facts.spellings, () => {
    const input: unknown = JSON.parse(call.input)
    const schema = inputOf(workflow)
    if (!schema) {
      if (!isPlainObject(input) || !isPlainObject(input.data)) throw new UpshotError('invalid_request', NO_EVENT)
      const event = { ...parseEvent(completeEvent(call, workflow, input)), account: call.account }
      return { event: fitToWorkflow(event, workflow, facts) }
    }
    const asSaved = schema.safeParse(input)
    // An input that was left out is saved as null.
    const parsed = asSaved.success || input !== null ? asSaved : schema.safeParse(undefined)
    if (parsed.success) return { input: parsed.data, tick: call.tick ? readTick(call.tick) : null }
    const faults = describeIssues('input', parsed.error)
    throw new UpshotError('invalid_request', `The input does not fit the workflow's schema: ${faults}`)
  })
}

const NO_EVENT = 'The workflow starts on events, so its input is one: { data: … }. Or make the workflow callable.'

function describeCall(
  { lease, createdAt }: ClaimedRun,
  { account, input, tick }: Extract<RunCause, { kind: 'call' }>,
): Call {
  return { runId: lease.runId, account, createdAt, input, ...(tick && { tick }) }
}

function completeEvent({ runId, createdAt }: Call, workflow: Pick<AnyWorkflow, 'on'>, input: unknown): object {
  const [only, ...others] = listTriggers(workflow.on)
  const type = only && others.length === 0 ? { type: isDefinition(only) ? only.type : only } : {}
  const given = isPlainObject(input) ? input : {}
  return { id: deriveEventId(runId), created: isoTime(createdAt), ...type, ...given }
}

function readTick({ scheduledFor, lastRunAt, missed }: CauseTick) {
  return {
    scheduledFor: new Date(scheduledFor),
    lastRunAt: lastRunAt === null ? null : new Date(lastRunAt),
    missed,
  }
}

/** The cause of a run, as its author sees it. */
export type Cause = { account: string } & (
  | { event: ReceivedEvent }
  | { event: ReceivedEvent; folded: number }
  | { events: ReceivedEvent[] }
  | { tick: Tick }
  | { input: unknown; tick: Tick | null }
)

/** The event with its data parsed. Throws an error that names every field that does not fit. */
export function fitEvent<E extends ServiceEvent>(event: E, definition: EventDefinition | undefined): E {
  const { fitting, faults } = parseData(event, definition)
  if (faults === null) return fitting
  throw new Error(`the event's data is not what the workflow relies on: ${faults}`)
}

/** The same for an event that code sends: that never fits later. */
export function fitSentEvent(event: ServiceEvent, definition: EventDefinition | undefined, key: string): void {
  const { faults } = parseData(event, definition)
  if (faults === null) return
  const fault = `Step "${key}" sends data that does not fit the definition of ${event.type}`
  throw new UpshotError('invalid_workflow', `${fault}: ${faults}`)
}

function parseData<E extends ServiceEvent>(event: E, definition: EventDefinition | undefined) {
  const parsed = definition?.data.safeParse(event.data)
  if (!parsed) return { fitting: event, faults: null }
  if (parsed.success) return { fitting: { ...event, data: parsed.data as Record<string, unknown> }, faults: null }
  const faults = parsed.error.issues.map((issue) => `data.${issue.path.join('.')}: ${issue.message}`)
  return { fitting: event, faults: faults.join('; ') }
}
