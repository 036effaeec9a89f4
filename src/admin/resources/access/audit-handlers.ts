import type { ReadStore } from '../../../core/store/store.ts'
import { withIsoTimes } from '../../../core/time.ts'
import type { AUDIT_ROUTES } from '../../contract/resources/access/audit.ts'
import type { Handlers } from '../../perform/handler.ts'
import { findEventId } from '../../queries/find-event.ts'
import { decodePosition, wholePage } from '../../queries/read-page.ts'
import { given, readMoment } from '../../queries/read-query.ts'
import { findRun, requireApproval } from '../../queries/require-row.ts'
import { describeAsked } from '../../views/run-view.ts'
import type { ResourceParts } from '../parts.ts'

/** The audit log. */
export function auditHandlers({
  store,
  openLists,
}: Pick<ResourceParts, 'store' | 'openLists'>): Handlers<keyof typeof AUDIT_ROUTES> {
  return {
    async 'GET /audit'({ query, caller, now }) {
      const { limit, after, since, until, actor, action, target } = query
      const moments = { since: readMoment(since, now), until: readMoment(until, now) }
      const filter = given({
        actor,
        action,
        target: await findTarget(store, target, now),
        ...moments,
        before: decodePosition(after, /^aud_\w+$/),
      })
      const actions = await (await openLists()).listActions({ ...filter, limit })
      return wholePage(actions, {
        limit,
        items: actions.map((each) => ({ ...withIsoTimes(each), parameters: describeAsked(each.parameters, caller) })),
        momentOf: ({ at }) => at,
      })
    },
  }
}

/** The whole id that `named` begins; itself for a name, and for what is pruned. */
async function findTarget(store: ReadStore, named: string | undefined, now: number): Promise<string | undefined> {
  if (named?.startsWith('run_')) return (await findRun(store, named))?.id ?? named
  if (named?.startsWith('evt_')) return findEventId(store, named)
  if (!named?.startsWith('apr_')) return named
  const approval = await requireApproval(store, named, now).catch(() => null)
  return approval?.id ?? named
}
