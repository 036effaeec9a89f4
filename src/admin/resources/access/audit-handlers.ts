import { isoTime } from '../../../core/time.ts'
import type { AUDIT_ROUTES } from '../../contract/resources/access/audit.ts'
import type { Handlers } from '../../http/handler.ts'
import { decodePosition, given, readMoment, wholePage } from '../../queries/read-query.ts'
import type { ResourceParts } from '../parts.ts'

/** The audit log. */
export function auditHandlers({ openLists }: Pick<ResourceParts, 'openLists'>): Handlers<keyof typeof AUDIT_ROUTES> {
  return {
    async 'GET /audit'({ query, now }) {
      const { limit, after, since, until, actor, action, target } = query
      const moments = { since: readMoment(since, now), until: readMoment(until, now) }
      const filter = given({ actor, action, target, ...moments, before: decodePosition(after, /^aud_\w+$/) })
      const actions = await (await openLists()).listActions({ ...filter, limit })
      return wholePage(actions, {
        limit,
        items: actions.map(({ at, ...rest }) => ({ ...rest, at: isoTime(at) })),
        positionOf: ({ id }) => id,
        momentOf: ({ at }) => at,
      })
    },
  }
}
