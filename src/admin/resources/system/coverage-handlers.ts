import { UpshotError } from '../../../core/errors.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { findStorage } from '../../../core/service/storage.ts'
import { HOUR_MS } from '../../../core/store/health/count-hour-now.ts'
import { isoTime } from '../../../core/time.ts'
import type { COVERAGE_ROUTES } from '../../contract/resources/system/coverage.ts'
import type { Handlers } from '../../perform/handler.ts'
import type { Surroundings } from '../../ports/surroundings.ts'
import { readCoverage } from '../../queries/read-coverage.ts'
import { readMoment } from '../../queries/read-query.ts'
import { type ResourceParts, recordAction } from '../parts.ts'

const TRANSFERS = 'transfers that never told: the service lists none. Compare an export with --transfers'
const UNKNOWABLE = [
  'files that came and went between two sweeps, and everything before the first complete one',
  'changes of content, and moves: the service has no event for them',
]

/** Files against events, runs and effects. */
export function coverageHandlers(parts: ResourceParts): Handlers<keyof typeof COVERAGE_ROUTES> {
  const { store, surroundings } = parts
  return {
    async 'POST /coverage'({ body, caller, now, signal }) {
      const { storage = null, lookUp, transfers } = body
      await recordAction(parts, { caller, body }, { action: 'coverage.read', target: storage, parameters: {} }, 'begun')
      // Runs are counted by the hour, and events beside them from the same moment on.
      const since = Math.floor((readMoment(body.since, now) ?? now) / HOUR_MS) * HOUR_MS
      const listed = new Map((transfers ?? []).map((id) => [id, false]))
      const take = (text: string, type: string) => {
        if (listed.size > 0 && type.startsWith('transfer.') && text !== '') markIn(JSON.parse(text).data, listed)
      }
      const { gone, ...found } = await readCoverage(store, { since, storage }, now, take)
      const untold = [...listed].flatMap(([id, isTold]) => (isTold ? [] : [id]))
      return {
        since: isoTime(since),
        ...found,
        storages: found.storages.map(({ sweep: { number, phase, baseline, ended }, ...counts }) => {
          const last = ended && { at: isoTime(ended.at), fault: ended.fault }
          return { ...counts, sweep: { number, phase, baseline, ended: last } }
        }),
        findings: found.findings.map(({ entry: _, foundAt, ...rest }) => ({ ...rest, foundAt: isoTime(foundAt) })),
        lookedUp: lookUp === 0 ? null : await lookUpDeletes(surroundings, gone.slice(0, lookUp), signal),
        transfers: transfers === undefined ? null : { listed: listed.size, untold },
        unknowable: transfers === undefined ? [TRANSFERS, ...UNKNOWABLE] : UNKNOWABLE,
      }
    },
  }
}

/** Marks the transfers that a value names anywhere. */
function markIn(value: unknown, ids: Map<string, boolean>): void {
  if (typeof value === 'string' && ids.has(value)) ids.set(value, true)
  if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) markIn(each, ids)
}

/** Asks the service for files that a delete of ours ended, one request at a time. */
export async function lookUpDeletes(
  { files, defaultAccount }: Pick<Surroundings, 'files' | 'defaultAccount'>,
  targets: readonly string[],
  signal: AbortSignal,
) {
  const looked = { asked: 0, there: [] as string[] }
  for (const target of targets) {
    const end = target.indexOf(':')
    const service = findStorage(target.slice(0, end), defaultAccount().storages)
    if (service === null) continue
    looked.asked += 1
    const found = files.get(DEFAULT_ACCOUNT, { service, id: target.slice(end + 1) }, signal).catch((error: unknown) => {
      if (error instanceof UpshotError && error.code === 'not_found') return null
      throw error
    })
    if ((await found) !== null) looked.there.push(target)
  }
  return looked
}
