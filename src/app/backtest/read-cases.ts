import { createHash } from 'node:crypto'
import { isPlainObject, parseJson } from '../../core/json.ts'
import type { Recording } from '../../core/runs/claim.ts'
import { isFinished, type Run, type RunFilter } from '../../core/runs/run.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { EffectRecord } from '../../core/safety/effect.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { NOT_WANTED } from '../../engine/admit/admit-run.ts'
import type { RunSide } from '../../engine/preview/compare/deed.ts'
import { readHeldBy } from '../../engine/preview/compare/held.ts'
import { type Request, readAsked, sideOfRecording } from '../../engine/preview/compare/run-side.ts'
import type { RecordedRun } from '../../engine/preview/preview-run.ts'

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

/** A recorded run, ready to be previewed and compared. */
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

/** A page of runs, with those that cannot be previewed by reason. */
export interface CasePage {
  cases: RecordedCase[]
  noBody: number
  /** Runs that a limit kept from starting, or that were folded into another one. */
  notStarted: number
  /** Runs that go on. */
  unfinished: number
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
  | 'listEventsOf'
>

const PAGE = 64

/** Pages of recorded runs, newest first. Nothing but one page is held. */
export async function* readCases(
  store: CaseStore,
  choice: RunChoice,
  { withOutputs = false }: { withOutputs?: boolean } = {},
): AsyncGenerator<CasePage> {
  for await (const ids of choose(store, choice)) yield readPage(store, ids, { withOutputs })
}

/** A page of the runs with these ids, in their order. */
export async function readPage(
  store: CaseStore,
  ids: readonly string[],
  { withOutputs = false }: { withOutputs?: boolean } = {},
): Promise<CasePage> {
  const recordings = await store.readRecordings(ids)
  const page: CasePage = { cases: [], noBody: 0, notStarted: 0, unfinished: 0 }
  const found = await Promise.all(recordings.map((recording) => readCase(store, recording, page, withOutputs)))
  page.cases = found.filter((each) => each !== null)
  return page
}

/** Pages of runs, newest first. */
export async function* listPages(store: Pick<ReadStore, 'listRuns'>, filter: RunFilter): AsyncGenerator<Run[]> {
  for (let before: string | undefined; ; ) {
    const page: Run[] = await store.listRuns({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) })
    if (page.length > 0) yield page
    before = page.at(-1)?.id
    if (page.length < PAGE) return
  }
}

/** A sample is the runs with the smallest hashes: the same each time, spread over all. */
async function* choose(store: CaseStore, choice: RunChoice): AsyncGenerator<string[]> {
  const { sample } = choice
  const pages = listChosen(store, choice)
  if (sample === undefined) return yield* pages
  let chosen: { id: string; rank: string }[] = []
  for await (const ids of pages) {
    const ranked = ids.map((id) => ({ id, rank: createHash('sha256').update(id).digest('base64') }))
    chosen = [...chosen, ...ranked].sort((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, sample)
  }
  const ids = chosen.map(({ id }) => id).sort((a, b) => (a < b ? 1 : -1))
  for (let from = 0; from < ids.length; from += PAGE) yield ids.slice(from, from + PAGE)
}

/** Ids of all chosen runs or of the newest ones, in pages. */
async function* listChosen(store: CaseStore, choice: RunChoice): AsyncGenerator<string[]> {
  const { workflow, since, until } = choice
  let left = choice.limit ?? Number.POSITIVE_INFINITY
  for await (const page of listPages(store, { workflow, since, ...(until === undefined ? {} : { until }) })) {
    const ids = (await keepFitting(store, page, choice)).slice(0, left)
    if (ids.length > 0) yield ids
    left -= ids.length
    if (left === 0) return
  }
}

/** Ids of the runs of this account, which an event of this type started. */
async function keepFitting(
  store: Pick<ReadStore, 'listEventsOf'>,
  runs: readonly Run[],
  { account, type }: Pick<RunChoice, 'account' | 'type'>,
): Promise<string[]> {
  const ids = runs.filter((run) => account === undefined || run.account === account).map(({ id }) => id)
  if (type === undefined) return ids
  const events = await store.listEventsOf('run', ids)
  const fitting = new Set(events.filter(({ event }) => event.type === type).map(({ of }) => of))
  return ids.filter((id) => fitting.has(id))
}

/** Null for a run that cannot be previewed; `page` counts why. */
async function readCase(
  store: CaseStore,
  recording: Recording,
  page: CasePage,
  withOutputs: boolean,
): Promise<RecordedCase | null> {
  const { run, claim, steps } = recording
  const { cause } = claim
  if (!isFinished(run.status)) {
    page.unfinished += 1
    return null
  }
  // A skip by `where` is the code's own, and so it is previewed again.
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
    run: run.id,
    event: run.eventId,
    account: run.account,
    at: run.startedAt ?? run.createdAt,
    job: { claim, steps },
    side: sideOfRecording(recording, await readRequests(store, recording), output),
    isCut: run.status === 'canceled' || run.error?.code === 'run_timeout',
  }
}

type Reads = Pick<ReadStore, 'listEffects' | 'findApproval' | 'findEvents' | 'findQuestion' | 'readRecordings'>

/** Most rows of the ledger that are read of one run. */
const MAX_ROWS = 20_000

/** The requests of a run: from the ledger, its events, its questions and the runs it invoked. */
async function readRequests(store: Reads, { run, steps }: Pick<Recording, 'run' | 'steps'>): Promise<Request[]> {
  const acts = new Set(steps.filter(({ kind, effect }) => kind === 'run' && effect !== 'read').map(({ key }) => key))
  const rows =
    acts.size > 0 ? await store.listEffects({ runId: run.id, phases: ['begun', 'done'], limit: MAX_ROWS }) : []
  const others = steps.filter(({ kind }) => CONTENTS[kind] !== undefined)
  const read = others.map(async (step): Promise<Request[]> => {
    const content = (await CONTENTS[step.kind]?.(store, run, step)) ?? null
    return content === null ? [] : [{ step: step.key, ...content }]
  })
  const contents = await Promise.all(read)
  const own = rows.filter(({ step }) => acts.has(step ?? ''))
  const heldBy = await readHeldBys(store, own)
  return [
    ...own.map((row) =>
      row.approval === null ? readAsked(row) : { ...readAsked(row), heldBy: heldBy.get(row.approval) },
    ),
    ...contents.flat(),
  ]
}

/** The limits that these effects were approved over, by approval. */
async function readHeldBys(store: Reads, rows: readonly EffectRecord[]): Promise<Map<string, string | undefined>> {
  const ids = [...new Set(rows.map(({ approval }) => approval))].filter((id) => id !== null)
  const found = await Promise.all(ids.map((id) => store.findApproval(id, rows[0]?.at ?? 0)))
  return new Map(found.flatMap((each) => (each?.kind === 'guard' ? [[each.id, readHeldBy(each.why, false)]] : [])))
}

/** Reads what a step was asked to do; null where retention has taken it. */
type ReadContent = (
  store: Reads,
  run: Pick<Recording['run'], 'id' | 'account'>,
  step: Checkpoint,
) => Promise<Pick<Request, 'content' | 'target'> | null>

const CONTENTS: Partial<Record<Checkpoint['kind'], ReadContent>> = {
  async approve(store, { id }, { key, target, startedAt }) {
    const question = (await store.findQuestion(id, key, startedAt))?.question
    return question ? { content: JSON.stringify({ ask: target, show: question.show }) } : null
  },
  async send(store, { account }, { output }) {
    const sent = output === null ? null : parseJson(output)
    if (!isPlainObject(sent) || typeof sent.id !== 'string') return null
    const event = (await store.findEvents(sent.id)).find((each) => each.account === account)
    return event === undefined || event.body === '' ? null : { content: JSON.stringify(JSON.parse(event.body).data) }
  },
  // The first run of a chain has the input that the step gave.
  async invoke(store, _run, { target: child }) {
    const [recording] = child === null ? [] : await store.readRecordings([child])
    if (recording === undefined) return null
    const { workflow: target, cause } = recording.claim
    return cause.kind === 'call' ? { target, content: cause.input } : { target }
  },
}
