import { describeError } from '../core/errors.ts'
import { parseEvent, type ReceivedEvent } from '../core/event.ts'
import { readWithSpellings } from '../core/file.ts'
import type { ClaimedRun, RunOutcome } from '../core/run.ts'
import { type AnyWorkflow, findDefinition } from '../core/workflow.ts'
import type { EventFacts } from './gather-facts.ts'
import type { Cause } from './run-context.ts'

export type Admission = { kind: 'admitted'; cause: Cause } | Extract<RunOutcome, { kind: 'skipped' | 'parked' }>

/**
 * Reads what caused the run and asks the author's `where`. Data of another shape, or a filter that throws, parks the run
 * for a person: a workflow that deletes must never run because its filter broke.
 */
export function admitRun(run: ClaimedRun, workflow: AnyWorkflow, { isSelfCaused, spellings }: EventFacts): Admission {
  if (run.cause.kind === 'tick') return { kind: 'admitted', cause: { account: 'default', tick: readTick(run.cause) } }
  const { account, body, id } = run.cause.event
  if (body === '') return { kind: 'parked', dueAt: null, reason: `the body of its event ${id} is pruned` }
  try {
    const received = { ...parseEvent(JSON.parse(body)), isSelfCaused }
    const event = readWithSpellings(spellings, () => readEvent(received, workflow))
    // What follows a failure belongs to a run that was let in.
    if (run.handler === 'run' && workflow.where && !workflow.where(event as never))
      return { kind: 'skipped', reason: 'its `where` said no' }
    return { kind: 'admitted', cause: { account, event } }
  } catch (error) {
    return { kind: 'parked', dueAt: null, reason: describeError(error).message }
  }
}

function readEvent(event: ReceivedEvent, workflow: AnyWorkflow): ReceivedEvent {
  const definition = findDefinition(workflow.on, event.type)
  if (!definition) return event
  const parsed = definition.data.safeParse(event.data)
  if (parsed.success) return { ...event, data: parsed.data as Record<string, unknown> }
  const faults = parsed.error.issues.map((issue) => `data.${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`the event's data is not what the workflow relies on: ${faults.join('; ')}`)
}

function readTick(cause: { scheduledFor: number; lastRunAt: number | null; missed: number }) {
  return {
    scheduledFor: new Date(cause.scheduledFor),
    lastRunAt: cause.lastRunAt === null ? null : new Date(cause.lastRunAt),
    missed: cause.missed,
  }
}
