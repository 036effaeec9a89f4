import type { AdminSession } from '../../../core/access/session.ts'
import { type AdminToken, planToken } from '../../../core/access/token.ts'
import { UpshotError } from '../../../core/errors.ts'
import { type Duration, parseDuration, withIsoTimes } from '../../../core/time.ts'
import type { TOKEN_ROUTES } from '../../contract/resources/access/tokens.ts'
import type { Handlers } from '../../perform/handler.ts'
import { resolveAmong } from '../../queries/resolve-id.ts'
import type { ResourceParts } from '../parts.ts'

/** Tokens of scripts, and logins of browsers. */
export function tokenHandlers({ store }: ResourceParts): Handlers<keyof typeof TOKEN_ROUTES> {
  return {
    'GET /tokens': async () => ({ items: (await store.listTokens()).map(describeToken) }),
    async 'POST /tokens'({ body, writes, now }) {
      const { name, role, expires } = body
      const expiresAt = expires === null ? null : now + parseDuration(expires as Duration)
      const { token, secret } = planToken({ name, role, expiresAt }, now)
      await writes.saveToken(token)
      return { token: describeToken(token), secret }
    },
    async 'DELETE /tokens/:id'({ params, writes, now }) {
      const valid = (await store.listTokens()).filter(({ revokedAt }) => revokedAt === null)
      const token = valid.find(({ name }) => name === params.id) ?? resolveAmong(params.id, valid)
      if (token && (await writes.revokeToken(token.id, now))) return undefined
      throw new UpshotError('not_found', `There is no token "${params.id}" that is not revoked.`, {
        fix: 'List them with "upshot tokens list".',
      })
    },
    'GET /sessions': async ({ now }) => ({ items: (await store.listSessions(now)).map(describeLogin) }),
    async 'DELETE /sessions/:id'({ params, writes }) {
      if (await writes.endSession(params.id)) return undefined
      throw new UpshotError('not_found', `There is no session ${params.id}.`)
    },
  }
}

function describeToken({ hash: _, ...token }: AdminToken) {
  return withIsoTimes(token)
}

function describeLogin({ cookieHash: _, keyHash: __, ...session }: AdminSession) {
  return withIsoTimes(session)
}
