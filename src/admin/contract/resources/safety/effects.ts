import { z } from 'zod'
import { moment, pageOf, paging, type RouteTable, time } from '../../route.ts'

const PHASES = ['begun', 'ended', 'done', 'decided', 'switched', 'noted'] as const

export const effect = z
  .object({
    seq: z.int(),
    at: time(),
    phase: z.enum(PHASES).describe('A delete has `begun` and `ended`; a write has one row, `done`.'),
    ofSeq: z.int().nullable().describe('The row in which an ended effect began.'),
    class: z.enum(['delete', 'write', 'guard']),
    operation: z.string(),
    account: z.string().nullable(),
    target: z.string().nullable(),
    path: z.string().nullable().describe('Null for a viewer, who sees no payload.'),
    bytes: z.int().nullable(),
    workflow: z.string().nullable(),
    runId: z.string().nullable(),
    step: z.string().nullable(),
    eventId: z.string().nullable().describe('The event that caused its run.'),
    code: z.string().nullable().describe('Hash of the code that ran.'),
    approval: z.string().nullable(),
    actor: z.string().nullable(),
    asked: z.unknown().describe('The state in which the run saw the file; null for a viewer.'),
    expect: z.unknown().describe('The state that a begun delete requires; null for a viewer.'),
    before: z.unknown().describe('The state that an ended delete found; null for a viewer.'),
    outcome: z.string().nullable(),
    proof: z.string().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'Effect' })

const scope = z.object({
  kind: z.enum(['all', 'workflow', 'account', 'storage']),
  name: z.string().max(200).describe('Of the workflow, account or storage; empty for `all`.'),
})

const stop = z.object({ ...scope.shape, since: time(), actor: z.string(), reason: z.string() }).meta({ id: 'Stop' })

const guard = z
  .object({
    isOn: z.boolean(),
    use: z.array(
      z.object({
        scope: z.string().describe('Such as `all` or `workflow/tidy`.'),
        class: z.enum(['delete', 'write', 'approved']).describe('`approved`: by a person; it fills no window.'),
        window: z.enum(['hour', 'day']),
        count: z.int(),
        bytes: z.int(),
        limit: z.int().nullable().describe('Of the project; a workflow may have limits of its own.'),
      }),
    ),
    stops: z.array(stop).describe('Stops in force: no delete that one covers begins.'),
  })
  .meta({ id: 'Guard' })

export const EFFECT_ROUTES = {
  'GET /effects': {
    id: 'listEffects',
    tag: 'effects',
    summary: 'The effect ledger, newest first: who did what to which file, by whose word',
    role: 'viewer',
    query: z.strictObject({
      target: z.string().optional().describe('Such as `storage_a:fil_1`.'),
      path: z.string().optional().describe('Path of a deleted file; needs the role operator.'),
      run: z.string().optional(),
      workflow: z.string().optional(),
      since: moment.optional(),
      until: moment.optional(),
      ...paging,
    }),
    answer: pageOf(effect),
    isSearch: true,
  },
  'GET /effects/export': {
    id: 'exportEffects',
    tag: 'effects',
    summary: 'The whole ledger as lines of JSON, oldest first',
    role: 'operator',
    query: z.strictObject({ since: moment.optional() }),
    answer: z.unknown(),
    form: 'bytes',
    isSearch: true,
  },
  'GET /guard': {
    id: 'getGuard',
    tag: 'effects',
    summary: 'What counts against the limits of deletes now, and the stops in force',
    role: 'viewer',
    answer: guard,
  },
  'POST /effects/stop': {
    id: 'stopEffects',
    tag: 'effects',
    summary: 'From its commit on, no delete and no `once` step of the scope begins, in any process',
    role: 'operator',
    body: z.strictObject({ ...scope.shape, reason: z.string().min(1).max(500).describe('Its runs show it.') }),
    answer: guard,
    audit: 'effects.stop',
  },
  'POST /effects/resume': {
    id: 'resumeEffects',
    tag: 'effects',
    summary: 'Ends a stop and wakes the runs that it holds',
    role: 'operator',
    body: z.strictObject({ ...scope.shape, reason: z.string().max(500).optional() }),
    answer: guard,
    audit: 'effects.resume',
  },
} as const satisfies RouteTable
