import { z } from 'zod'
import { ACCESS_ROLES } from '../../../../core/access/role.ts'
import { EFFECTS_MODES } from '../../../../core/safety/stop.ts'
import { defineRoutes } from '../../route.ts'

const role = z.enum(ACCESS_ROLES)

const session = z
  .object({
    name: z.string().describe('Who is logged in.'),
    role,
    kind: z.enum(['session', 'token', 'proxy', 'cli']),
    version: z.string().describe('Version of Upshot.'),
    processRole: z.string(),
    basePath: z.string(),
    isSandbox: z.boolean().describe('True where the app works with its own sandbox.'),
    sandboxUrl: z.string().nullable().describe('Address of its account pages; null while none is known.'),
    effects: z.enum(EFFECTS_MODES).describe('`plan`: runs are only planned, and nothing acts.'),
    now: z.iso.datetime(),
  })
  .meta({ id: 'Session' })

export const ACCESS_ROUTES = defineRoutes({
  'GET /login': {
    id: 'getLogin',
    noTool: 'session',
    summary: 'How people log in here',
    role: 'anyone',
    answer: z.object({
      provider: z.string().nullable().describe('Host of the provider that signs people in; null: there is none.'),
    }),
  },
  'POST /login': {
    id: 'logIn',
    noTool: 'session',
    summary: 'Takes the one-time code of `upshot dashboard`; sets the cookie and returns the page key',
    role: 'anyone',
    body: z.strictObject({ code: z.string().max(200).describe('Of the link, behind its `#`.') }),
    answer: z.object({ key: z.string().describe('Send it as `X-Upshot` with every request.'), role }),
    audit: 'session.start',
  },
  'POST /logout': {
    id: 'logOut',
    noTool: 'session',
    summary: 'Ends the session',
    role: 'viewer',
    body: null,
    answer: null,
    audit: 'session.end',
  },
  'GET /session': { id: 'getSession', summary: 'Who asks', answer: session },
  'GET /openapi.json': {
    id: 'getOpenapi',
    summary: 'This document',
    answer: z.record(z.string(), z.unknown()),
  },
})

export const LIVE_ROUTES = defineRoutes({
  'GET /live': {
    id: 'listen',
    noTool: 'session',
    summary: 'Server-sent events: whether something has changed since the one before; never content',
    answer: z.object({ changed: z.boolean().describe('Ask again for what you show.') }),
    form: 'events',
  },
})
