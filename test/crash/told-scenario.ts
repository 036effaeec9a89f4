import { z } from 'zod'

/** The input of each run of the siege. */
export const counted = z.object({ n: z.number() })

/** Steps of each run, with a tag and a value of its progress behind each. */
export const PARTS = 3
