import { z } from 'zod'
import { UpshotError } from '../errors.ts'
import type { ServiceEvent } from './event.ts'

/**
 * The body of a delivery, as section 2.6 of the service's specification has it. Unknown fields and
 * types are kept.
 */
const eventBody = z.looseObject({
  id: z
    .string()
    .max(200)
    .regex(/^evt_[\x21-\x7e]+$/, 'must be "evt_" and an opaque word'),
  type: z
    .string()
    .max(100)
    .regex(/^[\w-]+(\.[\w-]+)*$/, 'must be words joined by dots, such as "file.created"'),
  created: z.iso.datetime({ offset: true }),
  data: z.record(z.string(), z.unknown()),
})

/** Checks a parsed body; throws `invalid_event` with up to 10 faults and their paths. */
export function parseEvent(body: unknown): ServiceEvent {
  const parsed = eventBody.safeParse(body)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => ({ at: issue.path.join('.') || '(body)', fault: issue.message }))
  throw new UpshotError(
    'invalid_event',
    'The body is not an event of the service: it needs id, type, created and data.',
    {
      details: { faults: faults.slice(0, 10) },
    },
  )
}
