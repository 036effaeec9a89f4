import { z } from 'zod'
import { defineRoutes, duration, moment, pageOf, paging, tag, time } from '../route.ts'

const failureGroup = z
  .object({
    id: z.string().describe('`grp_…`: the same for failures of one kind, in every process.'),
    workflow: z.string(),
    step: z.string().nullable(),
    name: z.string(),
    message: z.string().describe('With ids, numbers, moments and paths masked.'),
    runs: z.int().describe('Failed runs that the search met; see `searched`.'),
    resolved: z.int().describe('Those of them that a person has resolved one by one.'),
    firstAt: time(),
    lastAt: time(),
    lastRun: z.string(),
    trend: z.array(z.int()).describe('Failed runs in each 24th of the time between `since` and `until`, oldest first.'),
    state: z
      .enum(['open', 'snoozed', 'resolved'])
      .describe('It opens again with its next failure. Without unresolved runs it is resolved.'),
    note: z.string().nullable(),
    by: z.string().nullable(),
    until: time().nullable().describe('End of a snooze.'),
  })
  .meta({ id: 'FailureGroup' })

export const FAILURE_ROUTES = defineRoutes({
  'GET /failures': {
    id: 'listFailures',
    summary: 'Failed runs by kind, the kind with the newest failure first; a page is a stretch of history',
    query: {
      q: z
        .string()
        .max(500)
        .optional()
        .describe('Words of the error, and `workflow:`, `tag:`, `step:`, `since:`, `until:`.'),
      workflow: z.string().optional().describe('Only runs of the workflow with this id.'),
      tag: tag.optional(),
      error: z.string().max(500).optional().describe('Text of the error.'),
      step: z.string().optional().describe('Key or name of the failed step.'),
      since: moment.default('24h'),
      until: moment.optional(),
      after: paging.after,
    },
    answer: pageOf(failureGroup),
    isSearch: true,
  },
  'POST /failures/:id/resolve': {
    id: 'resolveFailure',
    summary: 'Marks a kind of failure as resolved, until the next one',
    body: {
      note: z.string().max(2_000).nullable().default(null).describe('Shown with the kind of failure.'),
    },
    answer: null,
    audit: 'failure.resolve',
  },
  'POST /failures/:id/snooze': {
    id: 'snoozeFailure',
    summary: 'Hides a kind of failure for a time',
    body: {
      for: duration.describe('A duration such as `4h`.'),
      note: z.string().max(2_000).nullable().default(null).describe('Shown with the kind of failure.'),
    },
    answer: null,
    audit: 'failure.snooze',
  },
})

/** An error as a row keeps it; see `Failure` in `core/errors.ts`. */
export const failure = z
  .object({
    name: z.string(),
    message: z.string(),
    code: z.string().optional(),
    step: z.string().optional().describe('Key of the step that failed the run.'),
    once: z.literal(true).optional().describe('A `once` step that had begun, and never begins again in its run.'),
    at: z.array(z.string()).optional().describe('Stack frames, innermost first.'),
  })
  .meta({ id: 'Failure' })
