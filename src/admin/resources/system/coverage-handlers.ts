import { UpshotError } from '../../../core/errors.ts'
import { matchType } from '../../../core/incoming/event.ts'
import type { RunStatus } from '../../../core/runs/run.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { findStorage, type StorageName } from '../../../core/service/storage.ts'
import { HOUR_MS, listHoursNow } from '../../../core/store/run-hour.ts'
import { searchSlices } from '../../../core/store/search.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { FileCounts, KeptSweep } from '../../../core/store/sweeps.ts'
import { isoTime, waitUntil } from '../../../core/time.ts'
import type { COVERAGE_ROUTES } from '../../contract/resources/system/coverage.ts'
import type { AnswerOf } from '../../contract/routes.ts'
import type { Handlers } from '../../perform/handler.ts'
import type { Surroundings, Work } from '../../ports/surroundings.ts'
import { readMoment } from '../../queries/read-query.ts'
import type { ResourceParts } from '../parts.ts'

const TRANSFERS = 'transfers that never told: the service lists none. Compare an export with --transfers'
const UNKNOWABLE = [
  'files that came and went between two sweeps, and everything before the first complete one',
  'changes of content, and moves: the service has no event for them',
]

/** Files against events, runs and effects. */
export function coverageHandlers(parts: ResourceParts): Handlers<keyof typeof COVERAGE_ROUTES> {
  const { store, surroundings } = parts
  return {
    async 'POST /coverage'({ body, record, now: asked, signal, tell }) {
      const { storage = null, lookUp, transfers } = body
      await record(storage)
      if (body.wait) await waitForSweeps(parts, storage, { signal, tell })
      const now = body.wait ? parts.clock.now() : asked
      // Runs are counted by the hour, and events beside them from the same moment on.
      const since = Math.floor((readMoment(body.since, now) ?? now) / HOUR_MS) * HOUR_MS
      const listed = new Map((transfers ?? []).map((id) => [id, false]))
      const take = (text: string, type: string) => {
        if (listed.size > 0 && type.startsWith('transfer.') && text !== '') markIn(JSON.parse(text).data, listed)
      }
      const { gone, ...found } = await readCoverage(store, { since, storage }, now, take)
      const unreported = [...listed].flatMap(([id, isReported]) => (isReported ? [] : [id]))
      return {
        since: isoTime(since),
        ...found,
        lookedUp: lookUp === 0 ? null : await lookUpDeletes(surroundings, gone.slice(0, lookUp), signal),
        transfers: transfers === undefined ? null : { listed: listed.size, unreported },
        unknowable: transfers === undefined ? [TRANSFERS, ...UNKNOWABLE] : UNKNOWABLE,
      }
    },
  }
}

/** How often sweeps are asked how far they are. */
const LOOK_MS = 250

/** Waits until no sweep is under way. Without a process that sweeps, until the asker goes away. */
async function waitForSweeps(
  { store, clock }: ResourceParts,
  storage: StorageName | null,
  { signal, tell }: Work,
): Promise<void> {
  for (;;) {
    const sweeps = (await store.listSweeps()).filter((sweep) => storage === null || sweep.storage === storage)
    const atWork = sweeps.filter(({ state }) => state.phase !== 'idle')
    if (atWork.length === 0) return
    const sum = (count: (state: KeptSweep['state']) => number) =>
      atWork.reduce((all, { state }) => all + count(state), 0)
    const isCounted = atWork.every(({ state }) => state.total !== null)
    tell({ done: sum(({ seen }) => seen), total: isCounted ? sum(({ total }) => total ?? 0) : null })
    await waitUntil(clock, clock.now() + LOOK_MS, signal)
  }
}

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
    const file = { service, id: target.slice(end + 1) }
    const found = files
      .ask(DEFAULT_ACCOUNT, (api) => api.get(file, { signal }))
      .catch((error: unknown) => {
        if (error instanceof UpshotError && error.code === 'not_found') return null
        throw error
      })
    if ((await found) !== null) looked.there.push(target)
  }
  return looked
}

/** Rows of one read: a few milliseconds each. */
const FILES = 5_000
const SLICE = { rows: 2_000, limit: 500 }

/** Findings that one look counts. */
const FINDINGS = 10_000

/** Failed runs of a workflow, and deleted files, that one look names. */
const NAMED = { runs: 20, files: 1_000 }

/** Which part of the past is compared. */
interface CoverageChoice {
  since: number
  storage: StorageName | null
}

type Coverage = AnswerOf<'POST /coverage'>
type TypeCoverage = Coverage['types'][number]

/** Counts files, events, runs and deletes, in slices of rows. */
async function readCoverage(
  store: ReadStore,
  choice: CoverageChoice,
  now: number,
  onEvent: (body: string, type: string) => void,
) {
  const storages: Coverage['storages'] = []
  for (const sweep of await store.listSweeps())
    if (choice.storage === null || sweep.storage === choice.storage)
      storages.push(await countStorage(store, sweep, choice.since))
  const { since, storage } = choice
  const one = storage === null ? {} : { storage }
  const found = await store.listFindings({ ...one, since, limit: FINDINGS })
  const findings = found.map(({ entry: _, foundAt, ...rest }) => ({ ...rest, foundAt: isoTime(foundAt) }))
  const types = await countTypes(store, since, onEvent)
  return {
    storages,
    findings,
    types,
    runs: await countRuns(store, types, since, now),
    ...(await countDeletes(store, since)),
  }
}

async function countStorage(
  store: Pick<ReadStore, 'countFiles'>,
  { account, storage, state }: KeptSweep,
  since: number,
): Promise<Coverage['storages'][number]> {
  const total: FileCounts = { known: 0, arrived: 0, arrivedReported: 0, gone: 0, goneReported: 0 }
  const baseline = state.baseline ?? Number.MAX_SAFE_INTEGER
  for (let after: string | null = ''; after !== null; ) {
    const { next, ...counts }: FileCounts & { next: string | null } = await store.countFiles({
      account,
      storage,
      after,
      limit: FILES,
      baseline,
      since,
    })
    for (const name of Object.keys(total) as (keyof FileCounts)[]) total[name] += counts[name]
    after = next
  }
  const { number, phase, ended } = state
  const last = ended && { at: isoTime(ended.at), fault: ended.fault }
  return { account, storage, ...total, sweep: { number, phase, baseline: state.baseline, ended: last } }
}

const TYPES = ['file.created', 'file.deleted', 'transfer.completed', 'transfer.failed']

async function countTypes(
  store: Pick<ReadStore, 'searchEvents' | 'loadFileBook'>,
  since: number,
  onEvent: (body: string, type: string) => void,
): Promise<TypeCoverage[]> {
  const book = (await store.loadFileBook())?.book
  const counted: TypeCoverage[] = []
  for (const type of TYPES) {
    const isOfFile = type.startsWith('file.')
    const unmatched = isOfFile && book?.types[type] === undefined ? 'no defineEvent of this type has `file`' : null
    const total: TypeCoverage = { type, events: 0, madeUp: 0, unmatched }
    for await (const events of searchSlices((slice) => store.searchEvents({ type, since }, slice), SLICE)) {
      for (const { origin, body } of events) {
        total.events += 1
        if (origin === 'reconcile') total.madeUp += 1
        onEvent(body, type)
      }
    }
    counted.push(total)
  }
  return counted
}

async function countRuns(
  store: Pick<ReadStore, 'listRoutes' | 'listRuns'> & Parameters<typeof listHoursNow>[0],
  types: readonly TypeCoverage[],
  since: number,
  now: number,
): Promise<Coverage['runs']> {
  const routes = (await store.listRoutes()) ?? []
  const isMeant = ({ eventType }: { eventType: string }) => types.some(({ type }) => matchType(eventType, type))
  const workflows = [...new Set(routes.filter(isMeant).map(({ workflow }) => workflow))].toSorted()
  const byWorkflow = Map.groupBy(await listHoursNow(store, since, now), ({ workflow }) => workflow)
  return Promise.all(
    workflows.map(async (workflow) => {
      const statuses: Partial<Record<RunStatus, number>> = {}
      const hours = byWorkflow.get(workflow) ?? []
      for (const { status, runs } of hours) statuses[status] = (statuses[status] ?? 0) + runs
      const failed = await store.listRuns({ workflow, status: 'failed', since, limit: NAMED.runs })
      const runs = hours.reduce((sum, each) => sum + each.runs, 0)
      return { workflow, runs, statuses, failed: failed.map(({ id }) => id) }
    }),
  )
}

async function countDeletes(store: Pick<ReadStore, 'searchEffects'>, since: number) {
  const deletes: Coverage['deletes'] = { begun: 0, outcomes: {} }
  const gone: string[] = []
  const search = { class: 'delete', since } as const
  for await (const rows of searchSlices((slice) => store.searchEffects(search, slice), SLICE)) {
    for (const { phase, outcome, account, target } of rows) {
      const isGone = outcome === 'deleted' || outcome === 'already_gone'
      if (isGone && account === DEFAULT_ACCOUNT && target !== null && gone.length < NAMED.files) gone.push(target)
      if (phase === 'begun') deletes.begun += 1
      if (phase === 'ended') deletes.outcomes[outcome ?? 'unknown'] = (deletes.outcomes[outcome ?? 'unknown'] ?? 0) + 1
    }
  }
  return { deletes, gone }
}
