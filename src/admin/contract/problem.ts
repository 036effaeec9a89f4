import { z } from 'zod'

/** The body of every error: RFC 9457, and fields of ours. */
export const problem = z
  .object({
    type: z.string().describe('`urn:upshot:<code>`'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    fix: z.string().optional().describe('What to do next.'),
    errors: z.array(z.object({ at: z.string(), fault: z.string() })).optional(),
    retryAt: z.iso.datetime().optional(),
    request: z.string().describe('Id of the request, as in the answer’s `X-Request-Id`.'),
  })
  .meta({ id: 'Problem' })

export type Problem = z.infer<typeof problem>
