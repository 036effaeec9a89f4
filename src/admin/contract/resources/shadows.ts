import { z } from 'zod'
import { time } from '../route.ts'

const sample = z.object({ run: z.string().nullable(), event: z.string().nullable() })

/** The differences of a shadow from the runs of its workflow. */
export const shadow = z
  .object({
    file: z.string(),
    code: z.string().describe('Hash of its code: edited code is another shadow.'),
    since: time().describe('Runs that were made since then are compared.'),
    followed: time().describe('Runs that were made before then have been looked at.'),
    late: z.int().describe('Runs that had not ended when they were looked at.'),
    missed: z.int().describe('Runs that were given up: too many were late, or they were pruned.'),
    runs: z.int(),
    answered: z.int().describe('Runs of which something can be said.'),
    same: z.int(),
    groups: z.array(
      z.object({
        key: z.string(),
        count: z.int(),
        bytes: z.int(),
        changes: z.array(z.object({ sign: z.enum(['+', '-', '~']), text: z.string() })),
        samples: z.array(sample),
      }),
    ),
    cannotSay: z.array(z.object({ question: z.string(), count: z.int(), samples: z.array(sample) })),
  })
  .meta({ id: 'Shadow' })
