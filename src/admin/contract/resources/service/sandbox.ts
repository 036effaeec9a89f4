import { z } from 'zod'
import { STORAGES } from '../../../../core/service/storage.ts'
import { defineRoutes, reason, time } from '../../route.ts'

const PLANS = ['free', 'pro', 'enterprise', 'unlimited'] as const
const FORMS = ['primary', 'alternative', 'mixed'] as const

const settings = z.looseObject({ plan: z.enum(PLANS), form: z.enum(FORMS) })

const fault = z
  .looseObject({
    id: z.string(),
    on: z.string(),
    times: z.int().nullable(),
    seen: z.int().describe('How often it could have struck.'),
    struck: z.int(),
  })
  .describe('The rule has further fields, as it was added.')
  .meta({ id: 'SandboxFault' })

const end = z.object({ storage: z.enum(STORAGES), path: z.string() })

const transfer = z
  .object({
    id: z.string(),
    type: z.enum(['file', 'folder']),
    from: end,
    to: end,
    status: z.string(),
    files: z.object({ done: z.int(), total: z.int() }),
    bytes: z.object({ done: z.int(), total: z.int() }),
    error: z.string().nullable(),
    startedAt: z.string().nullable(),
    finishedAt: z.string().nullable(),
  })
  .meta({ id: 'SandboxTransfer' })

const clock = z.object({
  now: time(),
  mode: z.enum(['real', 'manual']).describe('`manual`: it stands still until it is advanced.'),
})

const state = z
  .object({
    url: z.string().nullable().describe('Address of its account pages.'),
    clock,
    settings,
    storages: z.array(z.object({ name: z.enum(STORAGES), files: z.int(), bytes: z.int() })),
    deliveries: z.object({ pending: z.int(), sending: z.int(), delivered: z.int(), failed: z.int() }),
    faults: z.array(fault),
    transfers: z.array(transfer).describe('Newest first, 20 at most.'),
  })
  .meta({ id: 'Sandbox' })

const AUDIT = 'sandbox.change'

/** The sandbox's own control API, passed on. Each answers 503 where no sandbox runs. */
export const SANDBOX_ROUTES = defineRoutes({
  'GET /sandbox': {
    id: 'getSandbox',
    summary: 'The sandbox: its clock, settings, storages, faults and newest transfers',
    role: 'operator',
    answer: state,
  },
  'POST /sandbox/clock/advance': {
    id: 'advanceSandboxClock',
    summary: 'Moves the clock forward; answers when everything that fell due is done',
    body: { by: z.string().max(20).describe('A duration such as `16m`.') },
    answer: clock,
    audit: AUDIT,
  },
  'POST /sandbox/clock/real': {
    id: 'followRealTime',
    summary: 'Lets the clock follow the time of the machine again',
    answer: clock,
    audit: AUDIT,
  },
  'POST /sandbox/faults': {
    id: 'addSandboxFault',
    summary: 'Adds a fault; the sandbox refuses a rule that could do nothing',
    body: z.looseObject({
      on: z
        .string()
        .describe('`files.list`, `files.get`, `files.download`, `files.delete`, `download`, `delivery`, `*`.'),
      times: z.int().min(1).nullable().optional().describe('How often it strikes. Default: without end.'),
      reason,
    }),
    answer: fault,
    audit: AUDIT,
  },
  'DELETE /sandbox/faults/:id': {
    id: 'removeSandboxFault',
    summary: 'Removes a fault',
    audit: AUDIT,
  },
  'POST /sandbox/events': {
    id: 'emitSandboxEvent',
    summary: 'Lets the service tell its webhooks of an event, with retries and all',
    body: {
      type: z.string().min(1).max(100).describe('Such as `file.created`.'),
      data: z.record(z.string(), z.unknown()).describe('The `data` of the event.'),
    },
    answer: z.object({ event: z.string() }),
    audit: AUDIT,
  },
  'POST /sandbox/events/:id/resend': {
    id: 'resendSandboxEvent',
    summary: 'Delivers an event of the service again, with the same id',
    answer: z.object({ deliveries: z.int() }),
    audit: AUDIT,
  },
  'POST /sandbox/transfers': {
    id: 'startSandboxTransfer',
    summary: 'Copies a file or folder between storages, as the service does',
    body: {
      from: end.describe('The file or folder.'),
      to: end.describe('A path that ends in `/` is the folder to put it into.'),
      existing: z.enum(['replace', 'keep']).default('replace').describe('Of files that are there already.'),
      failAt: z.number().min(0).max(1).nullable().default(null).describe('The part of the bytes after which it fails.'),
    },
    answer: transfer,
    audit: AUDIT,
  },
  'POST /sandbox/transfers/:id/cancel': {
    id: 'cancelSandboxTransfer',
    summary: 'Cancels a transfer; files that are copied whole are kept',
    answer: null,
    audit: AUDIT,
  },
  'PUT /sandbox/files/:storage': {
    id: 'putSandboxFile',
    summary: 'Writes a text file into a storage, as another user would',
    body: {
      path: z.string().startsWith('/').max(4_096).describe('Such as `/in/a.txt`.'),
      text: z.string().max(65_536).describe('Its content.'),
    },
    answer: z.object({ id: z.string(), path: z.string() }),
    audit: AUDIT,
  },
  'PATCH /sandbox/settings': {
    id: 'changeSandboxSettings',
    summary: 'Changes settings of the sandbox, such as the plan of the account',
    body: { settings: settings.partial().describe('Those to change.') },
    answer: settings,
    audit: AUDIT,
  },
})
