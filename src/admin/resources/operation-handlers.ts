import { UpshotError } from '../../core/errors.ts'
import { firstId, newId } from '../../core/ids.ts'
import type { BulkOperation } from '../../core/safety/bulk.ts'
import { isoTime } from '../../core/time.ts'
import { describeOperator } from '../access/describe-operator.ts'
import type { OPERATION_ROUTES } from '../contract/resources/operations.ts'
import type { BulkRunner } from '../operations/bulk-runner.ts'
import type { Handlers } from '../perform/handler.ts'
import { decodePosition, given, wholePage } from '../queries/read-query.ts'
import { readRunFilter } from '../queries/read-run-filter.ts'
import { requireOperation } from '../queries/require-row.ts'
import { momentOf } from '../views/moment-of.ts'
import { asCaller, type ResourceParts } from './parts.ts'

/** Operations on many runs or events. */
export function operationHandlers(
  parts: ResourceParts,
  runner: Pick<BulkRunner, 'wake'>,
): Handlers<keyof typeof OPERATION_ROUTES> {
  const { store } = parts
  return {
    async 'GET /operations'({ query: { limit, after } }) {
      const operations = await store.listBulks({ ...given({ before: decodePosition(after, /^opr_\w+$/) }), limit })
      return wholePage(operations, {
        limit,
        items: operations.map(describeOperation),
        positionOf: ({ id }) => id,
        momentOf: ({ createdAt }) => createdAt,
      })
    },
    async 'GET /operations/:id'({ params }) {
      const operation = await requireOperation(store, params.id)
      return { operation: describeOperation(operation), refusals: await store.listBulkRefusals(operation.id) }
    },
    async 'POST /operations'({ body, caller, now }) {
      const { kind, filter, perSecond, isDryRun, reason = null } = body
      const selected = await readRunFilter(store, filter, now)
      if (Object.keys(selected).length === 0) {
        throw new UpshotError('invalid_request', 'A filter that selects every run is refused.', {
          details: { fix: 'Name a status, a workflow or a time.' },
        })
      }
      if (kind === 'resolve' && reason === null) {
        throw new UpshotError('invalid_request', 'A resolved run keeps the reason, and none was given.', {
          details: { fix: 'Say in `reason` what was done, such as "copied by hand".' },
        })
      }
      const id = newId('opr', now)
      const frozen = { ...selected, before: firstId('run', now) }
      const operator = describeOperator(caller, reason)
      const plan = { id, kind, filter: frozen, operator, perSecond, isDryRun, createdAt: now }
      await asCaller(parts, { caller, body }).startBulk(plan)
      runner.wake()
      return describeOperation(await requireOperation(store, id))
    },
    async 'POST /operations/:id/abort'({ params, body, caller, now }) {
      const { id, status } = await requireOperation(store, params.id)
      if (!(await asCaller(parts, { caller, body }).abortBulk(id, now))) {
        throw new UpshotError('conflict', `Operation ${id} is ${status} already.`)
      }
      return describeOperation(await requireOperation(store, id))
    },
  }
}

/** An operation as the API gives it, and as the live feed tells its progress. */
export function describeOperation(operation: BulkOperation) {
  const { id, kind, status, isDryRun, filter, operator, perSecond, count, done, refused } = operation
  const routes = kind === 'replay' ? operation.routes : []
  return {
    workflows: [...new Set(routes.map(({ workflow }) => workflow))],
    ...{ id, kind, status, isDryRun, perSecond, done, refused },
    ...count,
    filter: { ...filter },
    by: operator.actor,
    reason: operator.reason,
    createdAt: isoTime(operation.createdAt),
    endedAt: momentOf(operation.endedAt),
  }
}
