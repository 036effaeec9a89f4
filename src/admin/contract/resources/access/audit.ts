import { z } from 'zod'
import { AUDIT_OUTCOMES } from '../../../../core/safety/audit.ts'
import { defineRoutes, moment, pageOf, paging, time } from '../../route.ts'

const action = z
  .object({
    id: z.string(),
    at: time(),
    actor: z.string().describe('Such as `cli:ada`, `web:ada` or `token:ci`.'),
    role: z.string(),
    from: z.string().describe('Host or address that the action came from.'),
    action: z.string(),
    target: z.string().nullable(),
    reason: z.string().nullable(),
    parameters: z.record(z.string(), z.unknown()),
    outcome: z.enum(AUDIT_OUTCOMES),
    error: z.string().nullable(),
  })
  .meta({ id: 'AuditedAction' })

export const AUDIT_ROUTES = defineRoutes({
  'GET /audit': {
    id: 'listActions',
    summary: 'What persons and programs did, newest first',
    query: {
      actor: z.string().optional().describe('Only actions of this person, such as `cli:ada`.'),
      action: z.string().optional().describe('An action such as `run.retry`, or a family such as `run.*`.'),
      target: z
        .string()
        .optional()
        .describe('Only actions on this run, event, approval, workflow, endpoint or account.'),
      since: moment.optional(),
      until: moment.optional(),
      ...paging,
    },
    answer: pageOf(action),
    isSearch: true,
  },
})
