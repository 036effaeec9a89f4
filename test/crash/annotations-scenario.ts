import { z } from 'zod'

/** The input of each run of the siege. */
export const counted = z.object({ n: z.number() })

/** Workflows with a cron line in code: each second. */
export const LINES = ['line-1', 'line-2', 'line-3']

/** Steps of each run, with a tag and a value of its progress behind each. */
export const PARTS = 3
