import { createHash } from 'node:crypto'
import type { Recording } from '../../core/runs/claim.ts'
import { isFinished, type Run, type RunFilter } from '../../core/runs/run.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { NOT_WANTED } from '../../engine/admit/admit-run.ts'
import type { RunSide } from '../../engine/play/compare/deed.ts'
import { sideOfRecording } from '../../engine/play/compare/side-of-recording.ts'
import type { RecordedRun } from '../../engine/play/play-recorded.ts'
import { readRequests } from './read-requests.ts'

/** The runs to look at. Times are epoch milliseconds. */
export interface RunChoice {
  workflow: string
  since: number
  until?: number
  /** Type of the event that started a run. */
  type?: string
  account?: string
  /** So many, spread over all of them. */
  sample?: number
  /** The newest so many. */
  limit?: number
}

/** A recorded run, ready to be played and compared. */
export interface RecordedCase {
  run: string
  /** Null for another cause. */
  event: string | null
  account: string
  /** When it began, in epoch milliseconds. */
  at: number
  job: RecordedRun
  side: RunSide
  /** See {@link compareSides}. */
  isCut: boolean
}

/** A page of runs, with those that cannot be played by reason. */
export interface CasePage {
  cases: RecordedCase[]
  noBody: number
  /** Runs that a limit kept from starting, or that were folded into another one. */
  notStarted: number
  /** Ids of runs that go on. */
  unfinished: string[]
}

export type CaseStore = Pick<
  ReadStore,
  | 'listRuns'
  | 'readRecordings'
  | 'readOutput'
  | 'listEffects'
  | 'findApproval'
  | 'findEvents'
  | 'findInvoked'
  | 'findQuestion'
>

const PAGE = 64

/** Pages of recorded runs, newest first. Nothing but one page is held. */
export async function* readCases(
  store: CaseStore,
  choice: RunChoice,
  { withOutputs = false }: { withOutputs?: boolean } = {},
): AsyncGenerator<CasePage> {
  for await (const ids of choose(store, choice)) {
    yield readPage(store, ids, { withOutputs, ...(choice.type === undefined ? {} : { type: choice.type }) })
  }
}

/** A page of the runs with these ids, in their order. */
export async function readPage(
  store: CaseStore,
  ids: readonly string[],
  { type, withOutputs = false }: { type?: string; withOutputs?: boolean } = {},
): Promise<CasePage> {
  const recordings = (await store.readRecordings(ids)).filter(({ claim: { cause } }) => {
    return type === undefined || (cause.kind === 'event' && cause.event.type === type)
  })
  const page: CasePage = { cases: [], noBody: 0, notStarted: 0, unfinished: [] }
  const found = await Promise.all(recordings.map((recording) => readCase(store, recording, page, withOutputs)))
  page.cases = found.filter((each) => each !== null)
  return page
}

/** Ids of runs in pages, newest first. */
export async function* listIds(
  store: Pick<ReadStore, 'listRuns'>,
  filter: RunFilter,
  { account, limit = Number.POSITIVE_INFINITY }: Pick<RunChoice, 'account' | 'limit'> = {},
): AsyncGenerator<string[]> {
  let left = limit
  for (let before: string | undefined; left > 0; ) {
    const page: Run[] = await store.listRuns({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) })
    const ids = page.filter((run) => account === undefined || run.account === account)
    if (ids.length > 0) yield ids.slice(0, left).map(({ id }) => id)
    left -= ids.length
    before = page.at(-1)?.id
    if (page.length < PAGE) return
  }
}

/** A sample is the runs with the smallest hashes: the same each time, spread over all. */
async function* choose(store: CaseStore, choice: RunChoice): AsyncGenerator<string[]> {
  const { workflow, since, until, sample } = choice
  const pages = listIds(store, { workflow, since, ...(until === undefined ? {} : { until }) }, choice)
  if (sample === undefined) return yield* pages
  let chosen: { id: string; rank: string }[] = []
  for await (const ids of pages) {
    const ranked = ids.map((id) => ({ id, rank: createHash('sha256').update(id).digest('base64') }))
    chosen = [...chosen, ...ranked].sort((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, sample)
  }
  const ids = chosen.map(({ id }) => id).sort((a, b) => (a < b ? 1 : -1))
  for (let from = 0; from < ids.length; from += PAGE) yield ids.slice(from, from + PAGE)
}

/** Null for a run that cannot be played; `page` counts why. */
async function readCase(
  store: CaseStore,
  recording: Recording,
  page: CasePage,
  withOutputs: boolean,
): Promise<RecordedCase | null> {
  const { run, claim, steps } = recording
  const { cause } = claim
  if (!isFinished(run.status)) {
    page.unfinished.push(run.id)
    return null
  }
  // A skip by `where` is the code's own, and so it is played again.
  const isByCode = run.status === 'skipped' ? run.reason === NOT_WANTED : run.status !== 'planned'
  if (!isByCode || run.foldedInto !== null || (run.status === 'canceled' && steps.length === 0)) {
    page.notStarted += 1
    return null
  }
  if (cause.kind === 'event' && cause.event.body === '') {
    page.noBody += 1
    return null
  }
  const needsOutput = withOutputs && run.status === 'completed' && run.continuedBy === null
  const output = needsOutput ? (run.output ?? (await store.readOutput(run.id, null))) : null
  return {
    ...{ run: run.id, event: run.eventId, account: run.account, at: run.startedAt ?? run.createdAt },
    job: { claim, steps },
    side: sideOfRecording(recording, await readRequests(store, recording), output),
    isCut: run.status === 'canceled' || run.error?.code === 'run_timeout',
  }
}
