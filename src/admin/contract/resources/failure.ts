import { z } from 'zod'

/** An error as a row keeps it; see `Failure` in `core/errors.ts`. */
export const failure = z
  .object({
    name: z.string(),
    message: z.string(),
    code: z.string().optional(),
    step: z.string().optional().describe('Key of the step that failed the run.'),
    at: z.array(z.string()).optional().describe('Stack frames, innermost first.'),
  })
  .meta({ id: 'Failure' })
