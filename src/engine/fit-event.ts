import type { ServiceEvent } from '../core/event.ts'
import { readWithSpellings, type StorageSpellings } from '../core/file.ts'
import type { EventDefinition } from '../core/workflow.ts'

/** The event with its data as its definition gives it out; throws an error that names every field that is different. */
export function fitEvent<Event extends ServiceEvent>(
  event: Event,
  definition: EventDefinition | undefined,
  spellings: StorageSpellings,
): Event {
  if (!definition) return event
  const parsed = readWithSpellings(spellings, () => definition.data.safeParse(event.data))
  if (parsed.success) return { ...event, data: parsed.data as Record<string, unknown> }
  const faults = parsed.error.issues.map((issue) => `data.${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`the event's data is not what the workflow relies on: ${faults.join('; ')}`)
}
