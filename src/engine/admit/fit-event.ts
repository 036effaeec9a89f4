import type { EventDefinition } from '../../author/define-event.ts'
import type { ServiceEvent } from '../../core/incoming/event.ts'

/**
 * The event with its data parsed by its definition. Throws an error that names every field that
 * does not fit.
 */
export function fitEvent<E extends ServiceEvent>(event: E, definition: EventDefinition | undefined): E {
  if (!definition) return event
  const parsed = definition.data.safeParse(event.data)
  if (parsed.success) return { ...event, data: parsed.data as Record<string, unknown> }
  const faults = parsed.error.issues.map((issue) => `data.${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`the event's data is not what the workflow relies on: ${faults.join('; ')}`)
}
