import { matchType } from '../../core/incoming/event.ts'
import type { RunStatus } from '../../core/runs/run.ts'
import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { StorageName } from '../../core/service/storage.ts'
import type { FileFinding } from '../../core/service/sweep/file-finding.ts'
import { countHourNow, HOUR_MS } from '../../core/store/health/count-hour-now.ts'
import type { RunHour } from '../../core/store/health/hours.ts'
import type { FileCounts, KeptSweep } from '../../core/store/health/sweeps.ts'
import type { ReadStore } from '../../core/store/store.ts'

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

/** The files of a storage. */
interface StorageCoverage extends FileCounts {
  account: string
  storage: StorageName
  sweep: KeptSweep['state']
}

/** The events of a type, and the runs of each workflow that it starts, by status. */
interface TypeCoverage {
  type: string
  events: number
  madeUp: number
  /** Why no file of the type can be told; null where the author's `file` does. */
  unmatched: string | null
}

/** The runs of a workflow that the types start. */
interface WorkflowCoverage {
  workflow: string
  runs: number
  statuses: Partial<Record<RunStatus, number>>
  /** Ids of the newest ones that failed. */
  failed: string[]
}

interface Coverage {
  storages: StorageCoverage[]
  findings: FileFinding[]
  types: TypeCoverage[]
  runs: WorkflowCoverage[]
  deletes: { begun: number; outcomes: Record<string, number> }
  /** Targets in the default account that deletes of ours ended, newest first. */
  gone: string[]
}

/** Counts files, events, runs and deletes, in slices of rows. */
export async function readCoverage(
  store: ReadStore,
  choice: CoverageChoice,
  now: number,
  onEvent: (body: string, type: string) => void,
): Promise<Coverage> {
  const storages: StorageCoverage[] = []
  for (const sweep of await store.listSweeps())
    if (choice.storage === null || sweep.storage === choice.storage)
      storages.push(await countStorage(store, sweep, choice.since))
  const { since, storage } = choice
  const one = storage === null ? {} : { storage }
  const findings = await store.listFindings({ ...one, since, limit: FINDINGS })
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
): Promise<StorageCoverage> {
  const total: FileCounts = { known: 0, arrived: 0, arrivedTold: 0, gone: 0, goneTold: 0 }
  const baseline = state.baseline ?? Number.MAX_SAFE_INTEGER
  for (let after: string | null = ''; after !== null; ) {
    const { next, ...counts }: FileCounts & { next: string | null } = await store.countFiles({
      ...{ account, storage, after, limit: FILES, baseline, since },
    })
    for (const name of Object.keys(total) as (keyof FileCounts)[]) total[name] += counts[name]
    after = next
  }
  return { account, storage, ...total, sweep: state }
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
    for (let after: string | null = null; ; ) {
      const { items, next } = await store.searchEvents({ type, since }, { ...SLICE, after })
      for (const { origin, body } of items) {
        total.events += 1
        if (origin === 'reconcile') total.madeUp += 1
        onEvent(body, type)
      }
      if (next === null) break
      after = next
    }
    counted.push(total)
  }
  return counted
}

async function countRuns(
  store: Pick<ReadStore, 'listRoutes' | 'listRuns'> & HourStore,
  types: readonly TypeCoverage[],
  since: number,
  now: number,
): Promise<Coverage['runs']> {
  const routes = (await store.listRoutes()) ?? []
  const isMeant = ({ eventType }: { eventType: string }) => types.some(({ type }) => matchType(eventType, type))
  const workflows = [...new Set(routes.filter(isMeant).map(({ workflow }) => workflow))].toSorted()
  const byWorkflow = Map.groupBy(await listHours(store, since, now), ({ workflow }) => workflow)
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

type HourStore = Pick<ReadStore, 'findDueHour' | 'listRunHours' | 'countHourRuns'>

/** Runs by the hour, up to the present one. Those that are not counted yet are counted here. */
async function listHours(store: HourStore, since: number, now: number): Promise<RunHour[]> {
  const present = Math.floor(now / HOUR_MS)
  const due = Math.max(Math.floor(since / HOUR_MS), (await store.findDueHour(now))?.hour ?? present)
  const hours = (await store.listRunHours({ since })).filter(({ hour }) => hour < due)
  for (let hour = due; hour <= present; hour++) hours.push(...(await countHourNow(store, hour)))
  return hours
}

async function countDeletes(
  store: Pick<ReadStore, 'searchEffects'>,
  since: number,
): Promise<Pick<Coverage, 'deletes' | 'gone'>> {
  const deletes: Coverage['deletes'] = { begun: 0, outcomes: {} }
  const gone: string[] = []
  for (let after: string | null = null; ; ) {
    const { items, next } = await store.searchEffects({ class: 'delete', since }, { ...SLICE, after })
    for (const { phase, outcome, account, target } of items) {
      const isGone = outcome === 'deleted' || outcome === 'already_gone'
      if (isGone && account === DEFAULT_ACCOUNT && target !== null && gone.length < NAMED.files) gone.push(target)
      if (phase === 'begun') deletes.begun += 1
      if (phase === 'ended') deletes.outcomes[outcome ?? 'unknown'] = (deletes.outcomes[outcome ?? 'unknown'] ?? 0) + 1
    }
    if (next === null) return { deletes, gone }
    after = next
  }
}
