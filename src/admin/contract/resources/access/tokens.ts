import { z } from 'zod'
import { ACCESS_ROLES } from '../../../../core/access/role.ts'
import { defineRoutes, duration, time } from '../../route.ts'

const role = z.enum(ACCESS_ROLES)

const token = z
  .object({
    id: z.string(),
    name: z.string(),
    role,
    createdAt: time(),
    expiresAt: time().nullable(),
    lastUsedAt: time().nullable().describe('Exact to the minute; null: never.'),
    revokedAt: time().nullable(),
  })
  .meta({ id: 'Token' })

const login = z
  .object({ id: z.string(), name: z.string(), role, address: z.string(), createdAt: time(), seenAt: time() })
  .meta({ id: 'Login' })

export const TOKEN_ROUTES = defineRoutes({
  'GET /tokens': {
    id: 'listTokens',
    summary: 'All tokens, newest first, revoked ones too',
    role: 'admin',
    answer: z.object({ items: z.array(token) }),
  },
  'POST /tokens': {
    id: 'addToken',
    noTool: 'secret',
    summary: 'A new token; its secret is in this answer and never shown again',
    role: 'admin',
    body: {
      name: z.string().describe('The audit log shows it.'),
      role: role.describe('The most that it may do.'),
      expires: duration.nullable().default('90d').describe('A duration such as `90d`; null: never.'),
    },
    answer: z.object({ token, secret: z.string() }),
    audit: 'token.add',
  },
  'DELETE /tokens/:id': {
    id: 'revokeToken',
    summary: 'Ends a token',
    role: 'admin',
    audit: 'token.revoke',
  },
  'GET /sessions': {
    id: 'listSessions',
    summary: 'Logins of browsers that are not over, newest first',
    role: 'admin',
    answer: z.object({ items: z.array(login) }),
  },
  'DELETE /sessions/:id': {
    id: 'endSession',
    summary: 'Ends a login',
    role: 'admin',
    audit: 'session.end',
  },
})
